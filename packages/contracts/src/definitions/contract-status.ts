import type { BlockRange, ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { listCoverageByChain, tableRows } from '@chainstead/sync';
