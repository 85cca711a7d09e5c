/**
 * What a chain is, as plain data: ids, names, confirmations, native coin, quirks.
 * Imports only core (and viem's chain objects).
 */
export * from './chain.ts';
