/**
 * Correction of an upstream's wrong balance after comparison with the chain's state, with two upstreams of a real node.
 */

import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { StateBlock } from '@chainstead/node-reads/requests';
import { compileDemoContracts } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seedCoverage } from '../transfers/testing/seeded-wallets.ts';
import { openProofStage, type ProofStage, type ShownBalance } from './testing/proof-stage.ts';

let stage: ProofStage;
let block: StateBlock;
let token: Address;

beforeAll(async () => {
  const { DemoToken } = await compileDemoContracts();
  stage = await openProofStage(2, async (devnet) => [await devnet.deploy(DemoToken, ['Demo Dollar', 'DUSD', 6])]);
  [token = ZERO_ADDRESS] = stage.tokens;
});
afterAll(() => stage?.close());

/** Both upstreams have returned the same wrong balance, which is shown. */
beforeEach(async () => {
  block = await stage.begin();
  for (const node of stage.nodes) stage.lie(node, token);
  expect(await ask('proof=false')).toEqual({ complete: 'true', row: { balance: '1500001' } });
});

async function ask(
  query: string,
): Promise<{ readonly complete: string | null; readonly row: ShownBalance | null }> {
  const { complete, shown } = await stage.ask(`token_addresses=${token}&${query}`);
  return { complete, row: shown[token] ?? null };
}

function secondNode(): ProofStage['nodes'][number] {
  const [, second] = stage.nodes;
  if (second === undefined) throw new Error('The stage has one upstream');
  return second;
}

const liesOf = (): readonly number[] =>
  stage.state.pool.status().map(({ faults }) => faults['balance-mismatch'] ?? 0);
const classes = (): Promise<unknown> =>
  stage.state.scratch.database.query(sql`SELECT class FROM erc20_token_classes`);

describe('a balance that is not the one of the chain’s state', () => {
  it('is shown as the state has it where another upstream says so, from then on, and who lied is named', async () => {
    const [before = 0, honest = 0] = liesOf();
    secondNode().alter = () => undefined;
    const proven = { balance: '1500000', proof: 'storage', proof_reason: null, proof_block: `${block.number}` };
    expect(await ask('proof=true')).toEqual({ complete: 'true', row: proven });
    expect(liesOf()).toEqual([before + 1, honest]);
    // The upstream still lies; the stored value is correct.
    expect(await ask('proof=false')).toEqual({ complete: 'true', row: { balance: '1500000' } });
    expect(await ask('proof=true')).toEqual({ complete: 'true', row: proven });
    // A wrong read reveals nothing about the token.
    expect(await classes()).toEqual([]);
  });

  it('says nothing against a token whose transfers tell what the state has, once all of them are indexed', async () => {
    await seedCoverage(stage.state.scratch.database, stage.state.chain, 0, block.number - 1);
    secondNode().alter = () => undefined;
    expect((await ask('proof=true')).row).toMatchObject({ balance: '1500000', proof: 'storage' });
    expect(await classes()).toEqual([{ class: 'sum' }]);
  });

  it('is said to be contradicted where no other upstream can be asked, and read again for the next request', async () => {
    const before = liesOf();
    secondNode().alter = ({ method }) =>
      method === 'eth_call' ? { error: { code: -32_603, message: 'oops' } } : undefined;
    const doubted = { balance: '1500001', proof: null, proof_reason: 'contradicted', proof_block: null };
    expect(await ask('proof=true')).toEqual({ complete: 'false', row: doubted });
    expect(liesOf()).toEqual(before);
    for (const node of stage.nodes) node.alter = () => undefined;
    expect(await ask('proof=false')).toEqual({ complete: 'true', row: { balance: '1500000' } });
  });
});
