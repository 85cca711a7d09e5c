/** Five thousand children of factories on a real node, created while blocks are followed. */
import { stageOfFile } from '@chainstead/testkit/hooks';
import { test } from 'vitest';
import { expectManyChildren, FACTORIES_SOURCE, WITH_TRANSACTIONS } from './contract-factories.ts';
import { openContractsStage } from './contracts-stage.ts';

const stage = stageOfFile(() => openContractsStage(31_448, FACTORIES_SOURCE, WITH_TRANSACTIONS));

test('have thousands of children', async () => {
  await expectManyChildren(stage, 5, 1_000);
});
