/** What `GET /{address}/erc20?proof=true` says over a real node, which tells balances rightly or not. */
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import type { StateBlock } from '@chainstead/state';
import { openStateStage, type StateStage } from '@chainstead/state/testing';
import { createKeptSubjects } from '@chainstead/sync';
import { compileDemoContracts, DEMO_TOKEN_ABI, seedBuilt } from '@chainstead/testkit';
import { tokenFactsReader } from '@chainstead/tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileStorageTokens } from '../balance-proofs/testing/storage-tokens.ts';
import { balanceOfCall } from '../calls/balance-of.ts';
import { type SeededTransfer, seedCoverage, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { balancesProven } from './balances-proven.ts';
import { balancesNow, balancesThen } from './read-balances.ts';
import { createWalletBalancesRoute } from './wallet-balances-route.ts';

let stage: StateStage;
let api: ApiApp;
let block: StateBlock;
let [plain, vyper, hidden]: Address[] = [];
let [wallet, friend, stranger]: Address[] = [];

beforeAll(async () => {
  stage = await openStateStage();
  const { devnet, scratch, chain, questions } = stage;
  const [demo, storage] = await Promise.all([compileDemoContracts(), compileStorageTokens()]);
  const [vyperToken, hiddenToken] = [storage.get('VyperToken'), storage.get('HiddenToken')];
  if (vyperToken === undefined || hiddenToken === undefined) throw new Error('The tokens were not compiled');
  plain = await devnet.deploy(demo.DemoToken, ['Demo Dollar', 'DUSD', 6]);
  vyper = await devnet.deploy(vyperToken);
  hidden = await devnet.deploy(hiddenToken);
  [, wallet, friend, stranger] = devnet.accounts;
  const transfers: SeededTransfer[] = [];
  for (const token of [plain, vyper, hidden])
    for (const [to, value] of [
      [wallet, 1_500_000n],
      [friend, 70_000_000n],
      [stranger, 12_345_678n],
    ] as const) {
      if (to === undefined) throw new Error('The devnet has too few accounts');
      const { blockNumber } = await devnet.send({
        address: token,
        abi: DEMO_TOKEN_ABI,
        functionName: 'mint',
        args: [to, value],
      });
      const place = { blockNumber: Number(blockNumber), transactionIndex: 0, logIndex: 0 };
      transfers.push({ from: ZERO_ADDRESS, to, token, value, ...place });
    }
  await seedTransfers(scratch.database, chain, transfers);
  await seedBuilt(scratch.database, chain.id, erc20WalletTokens);
  await devnet.mine(3);
  await stage.startWorker([balancesNow, balancesThen, balancesProven, tokenFactsReader]);
  api = await exampleApi(scratch.database, [
    createWalletBalancesRoute({
      questions,
      kept: createKeptSubjects(scratch.database),
      walletHistory: { requestWallet: async () => 'unserved' },
      waitMs: 15_000,
      liveMaxAgeMs: 60_000,
    }),
  ]);
});
afterAll(() => stage?.close());

/** Nobody has asked for anything; only the newest block is known to be whole, so that nothing tells of a balance but the node. */
beforeEach(async () => {
  const { database } = stage.scratch;
  stage.node.alter = () => undefined;
  block = await stage.commit();
  await database.query(
    'TRUNCATE state_questions, erc20_wallet_tokens, erc20_token_classes, erc20_balance_slots, kept_subjects, sync_ranges',
  );
  await seedCoverage(database, stage.chain, block.number, block.number);
});

interface Row {
  readonly token_address: Address;
  readonly balance: string;
  readonly proof?: string | null;
  readonly proof_reason?: string | null;
  readonly proof_block?: string | null;
}

/** By token. */
async function ask(query: string): Promise<Readonly<Record<string, object>>> {
  const answer = await api.request(`/api/v2.2/${wallet}/erc20?${query}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  const rows = (await answer.json()) as Row[];
  expect(answer.status).toBe(200);
  return Object.fromEntries(
    rows.map(({ token_address: token, balance, proof, proof_reason, proof_block }) => [
      token,
      { balance, proof, proof_reason, proof_block },
    ]),
  );
}

/** The node says of the wallet that it has one more of a token than it has. */
function lieOf(token: Address | undefined): void {
  stage.node.alter = ({ method, params }) => {
    const call = JSON.stringify(params[0] ?? null).toLowerCase();
    const isAsked = method === 'eth_call' && call.includes(balanceOfCall(wallet ?? ZERO_ADDRESS));
    return isAsked && call.includes(token ?? '-')
      ? { result: `0x${1_500_001n.toString(16).padStart(64, '0')}` }
      : undefined;
  };
}

const proofsAsked = (): number => stage.node.received.filter(({ method }) => method === 'eth_getProof').length;
const provenRow = () => ({ balance: '1500000', proof: 'storage', proof_reason: null, proof_block: `${block.number}` });
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
    const asked = proofsAsked();
    const rows = await ask('proof=false');
    expect(rows[plain ?? '']).toEqual({ balance: '1500000' });
    expect(proofsAsked()).toBe(asked);
  });

  it('are proven once for a block, whoever asks', async () => {
    await ask('proof=true');
    const asked = proofsAsked();
    expect(asked).toBeGreaterThan(0);
    expect((await ask('proof=true'))[plain ?? '']).toEqual(provenRow());
    expect(proofsAsked()).toBe(asked);
  });

  it('of which the node lies are contradicted by its own proof, the others proven', async () => {
    lieOf(plain);
    expect(await ask('proof=true')).toEqual({
      [plain ?? '']: { ...doubtful('contradicted'), balance: '1500001' },
      [vyper ?? '']: provenRow(),
      [hidden ?? '']: doubtful('no-slot-found'),
    });
  });

  it('are not proven where no node gives proofs', async () => {
    stage.node.alter = ({ method }) =>
      method === 'eth_getProof' ? { error: { code: -32_601, message: 'the method does not exist' } } : undefined;
    const rows = await ask(`proof=true&token_addresses=${plain}`);
    expect(rows).toEqual({ [plain ?? '']: doubtful('no-proof-from-upstream') });
  });

  it('are proven at the newest known block, where none is known of those after it', async () => {
    await ask('proof=false');
    const { database } = stage.scratch;
    await stage.devnet.mine(2);
    const newest = block.number + 2;
    await database.query('UPDATE sync_ranges SET last_block = $1', [newest]);
    expect((await ask('proof=true'))[plain ?? '']).toEqual(provenRow());
    await database.query('DELETE FROM blocks');
    expect((await ask('proof=true'))[plain ?? '']).toEqual(doubtful('block-unknown'));
  });
});
