import { defineTable } from '@chainstead/sync';
import { internalTransfers } from './schema.ts';

export const internalTransfersTable = defineTable(internalTransfers);
