import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import type { StateBlock } from '@chainstead/node-reads/requests';
import { openStateStage, type StateStage } from '@chainstead/node-reads/testing';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { type Closable, closeOf, DEMO_TOKEN_ABI, type Devnet, seedBuilt } from '@chainstead/testkit';
import { tokenFactsReader } from '@chainstead/tokens';
import { balanceOfCall } from '../../calls/fetch-balances.ts';
import { type SeededTransfer, seedCoverage, seedTransfers } from '../../transfers/testing/seeded-wallets.ts';
import { erc20WalletTokens } from '../../transfers/wallet-tokens.ts';
import { balancesNow, balancesProven, balancesThen } from '../read-balances.ts';
import { createWalletBalancesRoute } from '../wallet-balances-route.ts';

/** The wallet's balance of each token in base units. */
export const HELD = 1_500_000n;

/** A balance as returned by the route. */
export interface ShownBalance {
  readonly balance: string;
  readonly proof?: string | null;
  readonly proof_reason?: string | null;
  readonly proof_block?: string | null;
}

/** A wallet with {@link HELD} of each of some tokens of a real node, and the route that proves its balances. */
export interface ProofStage extends Closable {
  readonly state: StateStage;
  /** All upstreams, whose responses a test may alter. */
  readonly nodes: readonly StateStage['node'][];
  readonly tokens: readonly Address[];
  /**
   * Resets to a state without earlier requests, in which only the newest block is covered, so that balances must come
   * from nodes.
   * @returns that block
   */
  begin(): Promise<StateBlock>;
  /** Returns the wallet's balances by token. */
  ask(query: string): Promise<{
    readonly complete: string | null;
    readonly shown: Readonly<Record<Address, ShownBalance>>;
  }>;
  /** Makes a node return a balance increased by one for the wallet and a token. */
  lie(node: StateStage['node'], token: Address): void;
}

/** @param deploy tokens with public minting, like the demo's */
export async function openProofStage(
  upstreams: number,
  deploy: (devnet: Devnet) => Promise<readonly Address[]>,
): Promise<ProofStage> {
  await using parts = new AsyncDisposableStack();
  const state = parts.adopt(await openStateStage({ upstreams }), (one) => one.close());
  const { devnet, scratch, chain, nodeReads } = state;
  const { database } = scratch;
  const tokens = await deploy(devnet);
  const [, wallet = ZERO_ADDRESS, friend = ZERO_ADDRESS, stranger = ZERO_ADDRESS] = devnet.accounts;
  const holdings = [
    { to: wallet, value: HELD },
    { to: friend, value: 70_000_000n },
    { to: stranger, value: 12_345_678n },
  ];
  const transfers: SeededTransfer[] = [];
  for (const token of tokens)
    for (const { to, value } of holdings) {
      const mint = { address: token, abi: DEMO_TOKEN_ABI, functionName: 'mint', args: [to, value] };
      const { blockNumber } = await devnet.send(mint);
      const place = { blockNumber: Number(blockNumber), transactionIndex: 0, logIndex: 0 };
      transfers.push({ from: ZERO_ADDRESS, to, token, value, ...place });
    }
  await seedTransfers(database, chain, transfers);
  await seedBuilt(database, chain.id, erc20WalletTokens);
  await devnet.mine(3);
  await state.startWorker([balancesNow, balancesThen, balancesProven, tokenFactsReader]);
  const api = await exampleApi(database, [
    createWalletBalancesRoute({
      nodeReads,
      projections: createSubjectProjections(database),
      onDemandBackfill: { requestWallet: async () => 'unserved' },
      liveMaxAgeMs: 60_000,
    }),
  ]);
  const nodes = [state.node, ...state.others];
  return {
    state,
    nodes,
    tokens,
    async begin() {
      for (const node of nodes) node.alter = () => undefined;
      const block = await state.commit();
      await database.query(
        sql`TRUNCATE state_questions, erc20_wallet_tokens, erc20_token_classes, erc20_balance_slots, subject_projections, sync_ranges`,
      );
      await seedCoverage(database, chain, block.number, block.number);
      return block;
    },
    async ask(query) {
      const answer = await api.request(`/api/v2.2/${wallet}/erc20?${query}`, {
        headers: { 'x-api-key': EXAMPLE_KEY },
      });
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
      const rows = (await answer.json()) as (ShownBalance & { readonly token_address: Address })[];
      const shown: Record<Address, ShownBalance> = {};
      for (const { token_address: token, balance, proof, proof_reason = null, proof_block = null } of rows)
        shown[token] = proof === undefined ? { balance } : { balance, proof, proof_reason, proof_block };
      return { complete: answer.headers.get('x-indexed-complete'), shown };
    },
    lie(node, token) {
      const lied = `0x${(HELD + 1n).toString(16).padStart(64, '0')}`;
      node.alter = ({ method, params }) => {
        const call = JSON.stringify(params[0] ?? null).toLowerCase();
        const isRequested = method === 'eth_call' && call.includes(balanceOfCall(wallet)) && call.includes(token);
        return isRequested ? { result: lied } : undefined;
      };
    },
    ...closeOf(parts),
  };
}
