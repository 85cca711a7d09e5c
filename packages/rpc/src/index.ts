export * from './upstream-pool.ts';
