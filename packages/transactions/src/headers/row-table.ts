import { defineTable } from '@chainstead/sync';
import { blockHeaders } from './schema.ts';

export const blockHeadersTable = defineTable(blockHeaders);
