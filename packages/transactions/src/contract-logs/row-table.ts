import { defineTable } from '@chainstead/sync';
import { logs } from './schema.ts';

export const logsTable = defineTable(logs, { bulkIndexes: ['logs_by_topic'] });
