/** For tests of what asks nodes: a devnet behind a node that may be altered, with both sides of questions. */
export { type AlteredNode, alterNode } from './altered-node.ts';
export { clockOfWaits } from './clock-of-waits.ts';
export { openPool, openStateStage, type StateStage } from './state-stage.ts';
