// Dispatches of more workgroups than fit along one dimension have a second one.

uint group_index() {
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

uint thread_index() {
    return group_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
}
