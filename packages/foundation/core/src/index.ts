/** Basics of all other packages. No I/O. */

export * from './chain/block-range.ts';
export * from './chain/chain-data.ts';
export * from './chain/fraction.ts';
export * from './chain/keccak.ts';
export * from './chain/primitives.ts';
export * from './cursors/cursor.ts';
export * from './errors/error.ts';
export * from './errors/finding.ts';
export * from './json/answer-budget.ts';
export * from './json/json-bounds.ts';
export * from './json/lossless-json.ts';
export * from './map/get-or-compute.ts';
export * from './observability/define-metrics.ts';
export * from './observability/logger.ts';
export * from './observability/metrics.ts';
export * from './time/clock.ts';
export * from './time/date.ts';
export * from './time/request-wait.ts';
export * from './time/turns.ts';
