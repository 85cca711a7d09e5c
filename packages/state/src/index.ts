/**
 * What chains say of accounts, contracts and transactions at a block, read by the worker role because a request asked. Start reading at
 * `schema.ts`.
 */
export {};
