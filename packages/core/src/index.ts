/**
 * What everything else is written in: branded primitives, errors, block ranges, chain data, cursors, dates, clock,
 * logger, metrics, budgets.
 * No I/O. Imports no other package of the project.
 */
export * from './answer-budget.ts';
export * from './block-range.ts';
export * from './chain-data.ts';
export * from './clock.ts';
export * from './cursor.ts';
export * from './date.ts';
export * from './decimal-amount.ts';
export * from './error.ts';
export * from './finding.ts';
export * from './json-bounds.ts';
export * from './keccak.ts';
export * from './latency-percentile.ts';
export * from './logger.ts';
export * from './lossless-json.ts';
export * from './max-uint256.ts';
export * from './metrics.ts';
export * from './primitives.ts';
export * from './restart-delay.ts';
export * from './settles-within.ts';
export * from './shared-metric.ts';
export * from './tallied-metrics.ts';
export * from './when-aborted.ts';
