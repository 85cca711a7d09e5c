import { defineTable } from '@chainstead/sync';
import { wrappedCoinMoves as table } from './schema.ts';

export const wrappedCoinMovesTable = defineTable(table);
