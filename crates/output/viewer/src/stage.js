// The three-dimensional part: meshes, spheres, lights, camera.
import {
  AmbientLight,
  BackSide,
  BufferAttribute,
  BufferGeometry,
  CircleGeometry,
  Color,
  DirectionalLight,
  DoubleSide,
  DynamicDrawUsage,
  FrontSide,
  Group,
  HemisphereLight,
  IcosahedronGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  ShadowMaterial,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { positionsAt, scalarsAt } from "./data.js";

const CREASE = 0.766; // cosine of 40 degrees: sharper edges of still bodies stay sharp

// Colours of a field's 256 byte values as linear RGB.
function colourTable({ colours }) {
  const table = new Float32Array(256 * 3);
  const colour = new Color();
  colours.forEach(([r, g, b], byte) => {
    colour.setRGB(r / 255, g / 255, b / 255, "srgb").toArray(table, 3 * byte);
  });
  return table;
}

// Corner normals of a mesh that never changes, smooth up to the crease angle.
function creasedGeometry(points, faces) {
  const flat = new Float32Array(faces.length);
  const sums = new Float32Array(points.length);
  const a = new Vector3(), b = new Vector3(), c = new Vector3();
  for (let f = 0; f < faces.length; f += 3) {
    a.fromArray(points, 3 * faces[f]);
    b.fromArray(points, 3 * faces[f + 1]).sub(a);
    c.fromArray(points, 3 * faces[f + 2]).sub(a);
    b.cross(c);
    for (let k = 0; k < 3; k++) {
      const v = 3 * faces[f + k];
      sums[v] += b.x, sums[v + 1] += b.y, sums[v + 2] += b.z;
    }
    b.normalize().toArray(flat, f);
  }
  const position = new Float32Array(faces.length * 3);
  const normal = new Float32Array(faces.length * 3);
  for (let i = 0; i < faces.length; i++) {
    a.fromArray(points, 3 * faces[i]).toArray(position, 3 * i);
    b.fromArray(flat, 3 * Math.floor(i / 3));
    c.fromArray(sums, 3 * faces[i]).normalize();
    (c.dot(b) < CREASE ? b : c).toArray(normal, 3 * i);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(position, 3));
  geometry.setAttribute("normal", new BufferAttribute(normal, 3));
  return geometry;
}

// Area-weighted vertex normals, straight on the arrays (three's own is several times slower).
function smoothNormals(p, faces, n) {
  n.fill(0);
  for (let f = 0; f < faces.length; f += 3) {
    const i = 3 * faces[f], j = 3 * faces[f + 1], k = 3 * faces[f + 2];
    const ax = p[j] - p[i], ay = p[j + 1] - p[i + 1], az = p[j + 2] - p[i + 2];
    const bx = p[k] - p[i], by = p[k + 1] - p[i + 1], bz = p[k + 2] - p[i + 2];
    const x = ay * bz - az * by, y = az * bx - ax * bz, z = ax * by - ay * bx;
    n[i] += x, n[i + 1] += y, n[i + 2] += z;
    n[j] += x, n[j + 1] += y, n[j + 2] += z;
    n[k] += x, n[k + 1] += y, n[k + 2] += z;
  }
  for (let i = 0; i < n.length; i += 3) {
    const length = Math.hypot(n[i], n[i + 1], n[i + 2]) || 1;
    n[i] /= length, n[i + 1] /= length, n[i + 2] /= length;
  }
}

// A film, solid or obstacle.
class Surface {
  constructor(body) {
    this.body = body;
    this.object = new Group();
    this.base = new Color(body.colour);
    const film = body.role === "film";
    const options = { roughness: film ? 0.78 : 0.85, metalness: 0 };
    const offset = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
    if (body.moving) {
      this.points = new Float32Array(body.vertices * 3);
      this.normals = new Float32Array(body.vertices * 3);
      this.colours = new Float32Array(body.vertices * 3);
      this.geometry = new BufferGeometry();
      const attribute = (name, array) => {
        const a = new BufferAttribute(array, 3).setUsage(DynamicDrawUsage);
        this.geometry.setAttribute(name, a);
        return a;
      };
      this.attributes = [
        attribute("position", this.points),
        attribute("normal", this.normals),
        attribute("color", this.colours),
      ];
      this.geometry.setIndex(new BufferAttribute(body.faces, 1));
      options.vertexColors = true;
      options.flatShading = !film;
    } else {
      const points = new Float32Array(body.vertices * 3);
      if (body.frames) positionsAt(body, 0, points);
      this.geometry = creasedGeometry(points, body.faces);
      options.color = this.base;
    }
    const add = (side, shade) => {
      const material = new MeshStandardMaterial({ ...options, ...offset, side });
      material.color.multiplyScalar(shade);
      const mesh = new Mesh(this.geometry, material);
      mesh.frustumCulled = false;
      mesh.castShadow = side !== BackSide;
      mesh.receiveShadow = true;
      this.object.add(mesh);
      return mesh;
    };
    if (body.seeThrough) {
      // Two passes, the far walls first.
      for (const side of [BackSide, FrontSide]) {
        const mesh = add(side, 1);
        mesh.renderOrder = side === BackSide ? 1 : 2;
        this.glass = [...(this.glass ?? []), mesh];
      }
      this.seeThrough(true);
    } else if (film) {
      add(FrontSide, 1).material.shadowSide = DoubleSide;
      add(BackSide, 0.72);
    } else {
      add(DoubleSide, 1);
    }
    const material = new MeshBasicMaterial({
      wireframe: true, color: 0x000000, transparent: true, opacity: 0.16, depthWrite: false,
    });
    this.wires = new Mesh(this.geometry, material);
    this.wires.frustumCulled = false;
    this.wires.visible = false;
    this.object.add(this.wires);
  }

  // A container that one looks into throws no shadow on what is in it.
  seeThrough(on) {
    for (const mesh of this.glass ?? []) {
      const { material } = mesh;
      material.transparent = on;
      material.opacity = on ? 0.22 : 1;
      material.depthWrite = !on;
      material.needsUpdate = true;
      mesh.castShadow = !on;
    }
  }

  update(k, field, table) {
    if (!this.body.moving) return;
    positionsAt(this.body, k, this.points);
    smoothNormals(this.points, this.body.faces, this.normals);
    const values = field && scalarsAt(this.body, field, k);
    const { colours, base } = this;
    for (let v = 0, i = 0; i < colours.length; v++, i += 3) {
      if (values) {
        const q = 3 * values[v];
        colours[i] = table[q], colours[i + 1] = table[q + 1], colours[i + 2] = table[q + 2];
      } else {
        colours[i] = base.r, colours[i + 1] = base.g, colours[i + 2] = base.b;
      }
    }
    for (const a of this.attributes) a.needsUpdate = true;
  }
}

// Spheres, and points as small spheres.
class Balls {
  constructor(body, pointRadius) {
    this.body = body;
    this.base = new Color(body.colour);
    this.points = new Float32Array(body.vertices * 3);
    this.radii = body.radii.length ? body.radii : Array(body.vertices).fill(pointRadius);
    const detail = body.vertices > 2000 ? 2 : 4;
    const material = new MeshStandardMaterial({ roughness: 0.42, metalness: 0, shadowSide: FrontSide });
    this.object = new InstancedMesh(
      new IcosahedronGeometry(1, detail), material, Math.max(1, body.vertices));
    this.object.count = body.vertices;
    this.object.castShadow = this.object.receiveShadow = true;
    this.object.frustumCulled = false;
    this.done = false;
  }

  update(k, field, table) {
    if (this.done && !this.body.moving) return;
    this.done = true;
    positionsAt(this.body, k, this.points);
    const values = field && scalarsAt(this.body, field, k);
    const matrix = new Matrix4();
    const colour = new Color();
    for (let v = 0; v < this.body.vertices; v++) {
      const r = this.radii[v];
      matrix.makeScale(r, r, r).setPosition(
        this.points[3 * v], this.points[3 * v + 1], this.points[3 * v + 2]);
      this.object.setMatrixAt(v, matrix);
      this.object.setColorAt(v, values ? colour.fromArray(table, 3 * values[v]) : this.base);
    }
    this.object.instanceMatrix.needsUpdate = true;
    if (this.object.instanceColor) this.object.instanceColor.needsUpdate = true;
  }
}

// Draws on the canvas that it is given, or for stages that copy its picture.
export function createRenderer(canvas) {
  const renderer = new WebGLRenderer({ canvas, antialias: true });
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
  return renderer;
}

export class Stage {
  // `shared` is a renderer for several stages, as a browser grants a page only a few: pictures are then copied.
  constructor(run, canvas, shared) {
    this.run = run;
    this.canvas = canvas;
    this.up = new Vector3().fromArray(run.up);
    this.renderer = shared ?? createRenderer(canvas);
    this.copy = shared ? canvas.getContext("2d") : null;
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(28, 1, 0.01, 100);
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.dirty = true;
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.tables = Object.fromEntries(run.fields.map((f) => [f.name, colourTable(f)]));

    // Seen and lit: the box of what moves, over all frames.
    this.centre = new Vector3().fromArray(run.box.low)
      .add(new Vector3().fromArray(run.box.high)).multiplyScalar(0.5);
    this.radius = Math.max(1e-6,
      new Vector3().fromArray(run.box.high).distanceTo(this.centre));
    this.parts = run.bodies.map((body) => {
      const round = body.role === "spheres" || body.role === "points";
      const part = body.plane ? this.slab(body)
        : round ? new Balls(body, this.radius * 0.008) : new Surface(body);
      // A wide floor throws no shadow that anybody sees, only noise on itself.
      const wide = !body.moving && !round && !body.plane
        && Math.max(...body.step) * 65535 > 3 * this.radius;
      if (wide) part.object.traverse((o) => (o.castShadow = false));
      this.scene.add(part.object);
      return part;
    });
    if (run.ground != null) this.ground(run.ground);
    this.lights();
    this.home();
  }

  slab(body) {
    const normal = new Vector3().fromArray(body.plane.normal);
    const material = new MeshStandardMaterial({ color: body.colour, roughness: 0.95 });
    const disc = new Mesh(new CircleGeometry(this.radius * 6, 96), material);
    disc.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
    // Through the foot of the middle of the scene, wherever the plane's own point lies.
    const point = new Vector3().fromArray(body.plane.point);
    const height = this.centre.clone().sub(point).dot(normal);
    disc.position.copy(this.centre).addScaledVector(normal, -height);
    disc.receiveShadow = true;
    return { object: disc, update() {} };
  }

  ground(height) {
    const disc = new Mesh(
      new CircleGeometry(this.radius * 8, 96), new ShadowMaterial({ color: 0x0a0e14, opacity: 0.3 }));
    disc.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), this.up);
    disc.position.copy(this.centre)
      .addScaledVector(this.up, height - this.centre.dot(this.up));
    disc.receiveShadow = true;
    this.scene.add(disc);
  }

  lights() {
    const sky = new HemisphereLight(0xe6eef8, 0x5f5a55, 1.15);
    sky.position.copy(this.up);
    const sun = new DirectionalLight(0xfff1dd, 2.5);
    const { side, front } = this.axes();
    const R = this.radius;
    sun.position.copy(this.centre).addScaledVector(side, -1.1 * R)
      .addScaledVector(front, -1.4 * R).addScaledVector(this.up, 2.4 * R);
    sun.target.position.copy(this.centre);
    sun.castShadow = true;
    const size = this.copy ? 1024 : 2048;
    sun.shadow.mapSize.set(size, size);
    sun.shadow.normalBias = R * 0.005;
    sun.shadow.bias = -0.0008;
    sun.shadow.radius = 5;
    Object.assign(sun.shadow.camera,
      { left: -1.3 * R, right: 1.3 * R, top: 1.3 * R, bottom: -1.3 * R, near: 0.1 * R, far: 6 * R });
    const fill = new DirectionalLight(0xcfe0ff, 0.5);
    fill.position.copy(this.centre).addScaledVector(side, 2 * R).addScaledVector(front, R)
      .addScaledVector(this.up, R);
    fill.target.position.copy(this.centre);
    this.scene.add(sky, sun, sun.target, fill, fill.target, new AmbientLight(0xffffff, 0.12));
  }

  axes() {
    const start = Math.abs(this.up.z) > 0.9 ? new Vector3(1, 0, 0) : new Vector3(0, 0, 1);
    const side = start.addScaledVector(this.up, -start.dot(this.up)).normalize();
    return { side, front: this.up.clone().cross(side) };
  }

  // The first view: all that moves, from the front right and a little above.
  home() {
    const { side, front } = this.axes();
    const azimuth = (-58 * Math.PI) / 180, elevation = (24 * Math.PI) / 180;
    const direction = side.multiplyScalar(Math.cos(azimuth))
      .addScaledVector(front, Math.sin(azimuth)).multiplyScalar(Math.cos(elevation))
      .addScaledVector(this.up, Math.sin(elevation));
    const half = Math.tan((this.camera.fov * Math.PI) / 360) * Math.min(1, this.aspect ?? 1.5);
    const distance = (this.radius / Math.sin(Math.atan(half))) * 0.92;
    this.camera.near = this.radius * 0.005;
    this.camera.far = this.radius * 60;
    this.camera.position.copy(this.centre).addScaledVector(direction, distance);
    this.controls.target.copy(this.centre);
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.dirty = true;
  }

  background(colour) {
    this.scene.background = new Color(colour);
    this.dirty = true;
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    if (this.copy) {
      this.canvas.width = Math.max(1, Math.round(clientWidth * ratio));
      this.canvas.height = Math.max(1, Math.round(clientHeight * ratio));
    } else {
      this.renderer.setPixelRatio(ratio);
      this.renderer.setSize(clientWidth, clientHeight, false);
    }
    const first = this.aspect === undefined;
    this.aspect = clientWidth / Math.max(1, clientHeight);
    this.camera.aspect = this.aspect;
    this.camera.updateProjectionMatrix();
    if (first) this.home();
    this.dirty = true;
  }

  show(k, field) {
    for (const part of this.parts) part.update(k, field, this.tables[field]);
    this.dirty = true;
  }

  seeThrough(on) {
    for (const part of this.parts) part.seeThrough?.(on);
    this.dirty = true;
  }

  wires(on) {
    for (const part of this.parts) if (part.wires) part.wires.visible = on;
    this.dirty = true;
  }

  // Looks from where another stage does.
  follow(other) {
    this.camera.position.copy(other.camera.position);
    this.camera.quaternion.copy(other.camera.quaternion);
    this.controls.target.copy(other.controls.target);
    this.dirty = true;
  }

  render() {
    if (this.copy) {
      const { width, height } = this.canvas;
      const drawn = this.renderer.domElement;
      if (drawn.width !== width || drawn.height !== height) this.renderer.setSize(width, height, false);
    }
    this.renderer.render(this.scene, this.camera);
    this.copy?.drawImage(this.renderer.domElement, 0, 0);
    this.dirty = false;
  }
}
