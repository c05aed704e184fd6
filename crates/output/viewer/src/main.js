// The page of one run, or a report with several.
import { startReport } from "./report.js";
import { startView } from "./view.js";

const failure = document.getElementById("failure");
try {
  if (document.querySelector("section.runs")) startReport();
  else startView();
} catch (error) {
  failure.hidden = false;
  failure.textContent =
    `The view could not start: ${error.message}. It needs a browser with WebGL 2.`;
  throw error;
}
