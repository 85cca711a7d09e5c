/** Responses of `GET /{address}/erc20?proof=true` over a real node with correct or wrong balances. */

import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { StateBlock } from '@chainstead/node-reads/requests';
import { compileDemoContracts } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileStorageTokens } from '../balance-proofs/testing/storage-tokens.ts';
import { openProofStage, type ProofStage } from './testing/proof-stage.ts';

let stage: ProofStage;
let block: StateBlock;
let [plain, vyper, hidden]: Address[] = [];

beforeAll(async () => {
  const [demo, storage] = await Promise.all([compileDemoContracts(), compileStorageTokens()]);
  const [vyperToken, hiddenToken] = [storage.get('VyperToken'), storage.get('HiddenToken')];
  if (vyperToken === undefined || hiddenToken === undefined) throw new Error('The tokens were not compiled');
  stage = await openProofStage(1, async (devnet) => [
    await devnet.deploy(demo.DemoToken, ['Demo Dollar', 'DUSD', 6]),
    await devnet.deploy(vyperToken),
    await devnet.deploy(hiddenToken),
  ]);
  [plain, vyper, hidden] = stage.tokens;
});
afterAll(() => stage?.close());
beforeEach(async () => {
  block = await stage.begin();
});

/** By token. */
const ask = async (query: string) => (await stage.ask(query)).shown;
const proofsRequested = (): number =>
  stage.state.node.received.filter(({ method }) => method === 'eth_getProof').length;
const provenRow = () => ({
  balance: '1500000',
  proof: 'storage',
  proof_reason: null,
  proof_block: `${block.number}`,
});
const doubtful = (proof_reason: string) => ({ balance: '1500000', proof: null, proof_reason, proof_block: null });

describe('balances of a wallet', () => {
  it('are proven where the storage of the contract has them, and say why where that is not found', async () => {
    expect(await ask('proof=true')).toEqual({
      [plain ?? '']: provenRow(),
      [vyper ?? '']: provenRow(),
      [hidden ?? '']: doubtful('no-slot-found'),
    });
  });

  it('have no proof that nobody asked for', async () => {
    const requested = proofsRequested();
    const rows = await ask('proof=false');
    expect(rows[plain ?? ZERO_ADDRESS]).toEqual({ balance: '1500000' });
    expect(proofsRequested()).toBe(requested);
  });

  it('are proven once for a block, whoever asks', async () => {
    await ask('proof=true');
    const requested = proofsRequested();
    expect(requested).toBeGreaterThan(0);
    expect((await ask('proof=true'))[plain ?? ZERO_ADDRESS]).toEqual(provenRow());
    expect(proofsRequested()).toBe(requested);
  });

  it('of which the node lies are contradicted by its own proof, the others proven', async () => {
    stage.lie(stage.state.node, plain ?? ZERO_ADDRESS);
    expect(await ask('proof=true')).toEqual({
      [plain ?? '']: { ...doubtful('contradicted'), balance: '1500001' },
      [vyper ?? '']: provenRow(),
      [hidden ?? '']: doubtful('no-slot-found'),
    });
  });

  it('are not proven where no node gives proofs', async () => {
    stage.state.node.alter = ({ method }) =>
      method === 'eth_getProof' ? { error: { code: -32_601, message: 'the method does not exist' } } : undefined;
    const rows = await ask(`proof=true&token_addresses=${plain}`);
    expect(rows).toEqual({ [plain ?? '']: doubtful('no-proof-from-upstream') });
  });

  it('are proven at the newest known block, where none is known of those after it', async () => {
    await ask('proof=false');
    const { database } = stage.state.scratch;
    await stage.state.devnet.mine(2);
    const newest = block.number + 2;
    await database.query(sql`UPDATE sync_ranges SET last_block = ${newest}`);
    expect((await ask('proof=true'))[plain ?? ZERO_ADDRESS]).toEqual(provenRow());
    await database.query(sql`DELETE FROM blocks`);
    expect((await ask('proof=true'))[plain ?? ZERO_ADDRESS]).toEqual(doubtful('block-unknown'));
  });
});
