import { defineTable } from '@chainstead/sync/datasets';
import { wrappedCoinMoves as table } from './schema.ts';

export const wrappedCoinMovesTable = defineTable(table);
