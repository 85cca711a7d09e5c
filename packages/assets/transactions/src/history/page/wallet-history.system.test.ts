import { type Address, parseHash } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { addressOf, coverBlocks, createPartitions, recordedData } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isPlainTransfer } from '../../stored/is-plain-transfer.ts';
import { FIRST_BLOCK, type HistoryAnswer, LAST_BLOCK, openHistoryStage } from '../testing/history-stage.ts';
import { type RecordedTransaction, readRecordedTransactions } from '../testing/recorded-transactions.ts';

const { isMissing, title } = recordedData('data/evm');

describe.skipIf(isMissing)(title('the history of wallets in recorded blocks'), () => {
  const stage = stageOfFile(openHistoryStage);
  let recorded: readonly RecordedTransaction[] = [];
  beforeAll(async () => {
    recorded = readRecordedTransactions().filter(({ block }) => isStored(block));
  });
  beforeEach(() => stage.reset());

  /**
   * Wallets by the number of their transactions, busiest first: as sender, receiver, created contract, side of a
   * transfer, or owner in an approval.
   */
  function parts(): ReadonlyMap<Address, ReadonlySet<string>> {
    const found = new Map<Address, Set<string>>();
    for (const { record } of recorded)
      for (const account of accountsIn(record))
        found.set(account, (found.get(account) ?? new Set()).add(record.hash));
    return new Map([...found].toSorted(([, one], [, other]) => other.size - one.size));
  }

  test('has every transaction that a wallet had a part in, once, in order, page by page', async () => {
    const all = parts();
    // A few of the busiest, and some with one or two activities.
    const wallets = [...all.keys()].filter((_, place) => [1, 5, 9, 40].includes(place) || place % 400 === 399);
    expect(wallets.length).toBeGreaterThan(5);
    for (const wallet of wallets.slice(0, 9)) {
      for (const order of ['DESC', 'ASC']) {
        const pages = await stage.pages(`wallets/${wallet}/history?limit=25&order=${order}`);
        const rows = pages.flatMap(({ result }) => result);
        expect(new Set(rows.map(({ hash }) => hash)), wallet).toEqual(all.get(wallet));
        expect(rows).toHaveLength(all.get(wallet)?.size ?? 0);
        const places = rows.map((row) => Number(row.block_number) * 10_000 + Number(row.transaction_index));
        expect(places).toEqual(places.toSorted((one, other) => (order === 'ASC' ? one - other : other - one)));
        // Full except for the last, and numbered.
        for (const [index, page] of pages.entries()) {
          expect(page).toMatchObject({ page: index + 1, page_size: 25, limit: 25, synced_at: LAST_BLOCK });
          expect(page.result.length === 25 || page.cursor === null).toBe(true);
        }
      }
    }
  });

  test('classifies each transaction for its sender as its logs alone tell', async () => {
    const ofCategory = Object.values(Object.groupBy(recorded, (one) => one.classification.category));
    const senders = new Set(ofCategory.flatMap((some) => some.slice(0, 3).map(({ seen }) => seen.wallet)));
    const compared = new Set<string>();
    for (const wallet of senders) {
      const { result } = await stage.get(`wallets/${wallet}/history`);
      for (const { record, classification, seen } of recorded.filter((one) => one.seen.wallet === wallet)) {
        const row = result.find(({ hash }) => hash === record.hash);
        expect([row?.hash, row?.category, row?.category_detail ?? null]).toEqual([
          record.hash,
          classification.category,
          classification.detail,
        ]);
        expect(row?.erc20_transfers.map(({ log_index }) => log_index)).toEqual(
          seen.tokens.map(({ logIndex }) => logIndex),
        );
        expect(row?.nft_transfers).toHaveLength(seen.nfts.length);
        expect(row?.native_transfers.map(({ value }) => value)).toEqual(
          seen.coins.map(({ value }) => String(value)),
        );
        compared.add(classification.category);
      }
    }
    expect(compared.size).toBeGreaterThan(8);
  });

  test('keeps to blocks and dates', async () => {
    const [wallet = ''] = [...parts().keys()].slice(1);
    const all = (await stage.pages(`wallets/${wallet}/history`)).flatMap(({ result }) => result);
    const within = await stage.pages(
      `wallets/${wallet}/history?from_block=${FIRST_BLOCK + 1}&to_block=${LAST_BLOCK - 1}`,
    );
    expect(within.flatMap(({ result }) => result.map(({ hash }) => hash))).toEqual(
      all
        .filter((row) => Number(row.block_number) > FIRST_BLOCK && Number(row.block_number) < LAST_BLOCK)
        .map(({ hash }) => hash),
    );
    const moment = all.at(-1)?.block_timestamp ?? '';
    const until = await stage.pages(`wallets/${wallet}/history?to_date=${moment}&order=ASC`);
    expect(until.flatMap(({ result }) => result.map(({ hash }) => hash))).toEqual(
      all
        .filter((row) => row.block_timestamp <= moment)
        .map(({ hash }) => hash)
        .toReversed(),
    );
  });

  test('adds what is asked for and nothing else', async () => {
    const { seen, record } = busiest(recorded);
    const find = async (query: string) =>
      (await stage.get(`wallets/${seen.wallet}/history?${query}`)).result.find(
        ({ hash }) => hash === record.hash,
      );
    const plain = await find('');
    expect(plain).not.toHaveProperty('input');
    expect(plain).not.toHaveProperty('logs');
    expect(plain).not.toHaveProperty('internal_transactions');
    expect(plain).toMatchObject({ receipt_status: '1', from_address: seen.wallet, receipt_root: null });
    expect((await find('include_input_data=true'))?.input).toBe(record.input);
    // The node of recorded blocks has no traces.
    expect(await find('include_internal_transactions=true')).toHaveProperty('internal_transactions', null);
    const logs = (await find('include=logs'))?.logs ?? [];
    expect(logs.map(({ log_index }) => Number(log_index))).toEqual(record.logs.map(({ index }) => index));
    for (const { decoded_event } of logs) expect(decoded_event).toHaveProperty('signature');
  });

  test('is 503 with Retry-After while it is being read, and 400 where requests may have nothing read', async () => {
    const { wallet } = recorded[7]?.seen ?? {};
    await stage.scratch.database.query(sql`TRUNCATE state_questions`);
    await forgetEvidence();
    stage.settings.waitMs = 0;
    const early = await stage.ask(`wallets/${wallet}/history`);
    expect(early).toMatchObject({ status: 503, body: { message: 'being read from the node' } });
    expect(early.headers.get('retry-after')).toBe('1');
    stage.settings.maxCalls = 0;
    expect(await stage.ask(`wallets/${wallet}/history`)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^transactions of eth are not indexed/) },
    });
    // A wallet without any needs none.
    expect(await stage.get(`wallets/0x${'12'.repeat(20)}/history`)).toMatchObject({ cursor: null, result: [] });
    await restoreEvidence();
  });

  test('is read whole by the official SDK', async () => {
    const { wallet } = busiest(recorded).seen;
    let page = await stage.sdk.EvmApi.wallets.getWalletHistory({
      chain: '0x1',
      address: wallet,
      limit: 3,
      order: 'ASC',
    });
    const hashes: string[] = [];
    for (;;) {
      for (const row of page.result) {
        hashes.push(row.hash);
        expect(row.fromAddress.lowercase).toMatch(/^0x/);
        expect(JSON.stringify(row.toJSON())).toContain(row.hash);
        for (const leg of row.erc20Transfers) expect(leg.fromAddress.lowercase).toMatch(/^0x/);
        for (const leg of row.nftTransfers) expect(leg.tokenAddress.lowercase).toMatch(/^0x/);
        for (const leg of row.nativeTransfers) expect(leg.fromAddress.lowercase).toMatch(/^0x/);
      }
      if (!page.hasNext()) break;
      page = await page.next();
    }
    const all = (await stage.pages(`wallets/${wallet}/history?order=ASC`)).flatMap(({ result }) => result);
    expect(hashes).toEqual(all.map(({ hash }) => hash));
  });

  test('tells the official SDK of approvals by the names that it knows', async () => {
    const approving = recorded.filter(({ seen }) => seen.approvals.length > 0);
    expect(approving.some(({ seen }) => seen.approvals.some(({ kind }) => kind === 'all'))).toBe(true);
    for (const { seen, record } of approving
      .filter((_, place) => place % 7 === 0 || approving[place]?.seen.approvals[0]?.kind === 'all')
      .slice(0, 12)) {
      const { result } = await stage.sdk.EvmApi.wallets.getWalletHistory({ chain: '0x1', address: seen.wallet });
      const reported = result.find(({ hash }) => hash === record.hash)?.contractInteractions;
      const all = [
        ...(reported?.approvals ?? []),
        ...(reported?.revokes ?? []),
        ...(reported?.approvalsAll ?? []),
        ...(reported?.revokesAll ?? []),
      ];
      expect(all.map(({ spender }) => spender.address.lowercase).toSorted()).toEqual(
        seen.approvals.map(({ spender }) => spender as string).toSorted(),
      );
    }
  });

  test('is complete where transactions of all wallets are kept, and every kind of row is covered', async () => {
    const path = `wallets/${recorded[0]?.seen.wallet}/history`;
    const indexed = { from_block: '0', to_block: String(LAST_BLOCK), complete: true, traces: 'none' };
    expect((await stage.get(path)).indexed).toEqual(indexed);
    stage.settings.mode = 'off';
    expect((await stage.get(path)).indexed).toEqual({ ...indexed, complete: false });
  });

  test('is complete where only wallets that are asked for are kept, for blocks in which this one was looked for', async () => {
    const [{ seen } = busiest(recorded)] = recorded.slice(5);
    const { database } = stage.scratch;
    const path = `wallets/${seen.wallet}/history`;
    const wallet = hexBytes(seen.wallet);
    const kept = await database.query(
      sql`DELETE FROM sync_ranges WHERE dataset = 'account-transactions' RETURNING *`,
    );
    expect(kept).toHaveLength(1);
    await database.query(
      sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint) VALUES (1, 0, ${FIRST_BLOCK}, ${LAST_BLOCK})`,
    );
    // No worker searches here, so each first request waits for half of this.
    stage.settings.waitMs = 4_000;
    stage.settings.mode = 'wallets';
    const unknown = { from_block: null, to_block: null, complete: false };
    const first = await stage.get(path);
    expect(first).toMatchObject({ synced_at: LAST_BLOCK, indexed: { ...unknown, sent: { complete: false } } });
    expect(first.result.length).toBeGreaterThan(0);
    // Searched for in each block since.
    await database.query(sql`UPDATE tracked_wallets SET since_block = ${FIRST_BLOCK} WHERE wallet = ${wallet}`);
    await database.query(
      sql`INSERT INTO wallet_scan_state (chain_id, first_block, last_block) VALUES (1, ${FIRST_BLOCK}, ${LAST_BLOCK})`,
    );
    const watched = { from_block: String(FIRST_BLOCK), to_block: String(LAST_BLOCK) };
    expect((await stage.get(`${path}?from_block=${FIRST_BLOCK}`)).indexed).toMatchObject({
      ...watched,
      complete: true,
    });
    expect((await stage.get(path)).indexed).toMatchObject({
      ...watched,
      complete: false,
      sent: { complete: false },
    });
    // Its earlier sent transactions were found by nonces; its receipts were not.
    await database.query(
      sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block) VALUES (1, 'sender', ${wallet}, 'account-transactions', 0, ${FIRST_BLOCK - 1})`,
    );
    expect((await stage.get(path)).indexed).toMatchObject({
      ...watched,
      complete: false,
      sent: { complete: true },
    });
    await database.query(sql`TRUNCATE tracked_wallets, wallet_scan_state, subject_ranges, sync_chains`);
    await coverBlocks(database, 1, 'account-transactions', 0, LAST_BLOCK);
  });

  test('has no node asked for stored transactions in which no contract emitted anything', async () => {
    const silent = recorded.filter(({ record }) => record.status === 0 || isPlainTransfer(record));
    expect(silent.length).toBeGreaterThan(20);
    const alone = silent.filter(({ seen }) => parts().get(seen.wallet)?.size === 1).slice(0, 10);
    expect(alone.length).toBeGreaterThan(5);
    stage.settings.maxCalls = 0;
    for (const { record, seen, classification } of alone) {
      const { result } = await stage.get(
        `wallets/${seen.wallet}/history?include_input_data=true${record.status === 0 ? '&include=logs' : ''}`,
      );
      expect(result).toMatchObject([
        {
          hash: record.hash,
          input: record.input,
          category: classification.category,
          ...(record.status === 0 && { logs: [] }),
          receipt_status: String(record.status),
        },
      ]);
    }
  });

  describe('with coins that moved inside transactions', () => {
    const RECEIVER = addressOf(0x5a1e);
    beforeAll(async () => {
      const { database } = stage.scratch;
      await createPartitions(database, 'internal_transfers', stage.chain.id);
      for (const { record, seen, place } of [someCall(), ...inferred()])
        for (const [direction, account, counterparty] of [
          [0, record.to, place === 0 ? RECEIVER : seen.wallet],
          [1, place === 0 ? RECEIVER : seen.wallet, record.to],
        ] as const)
          await database.query(
            sql`INSERT INTO internal_transfers (account_key, chain_id, block_number, transaction_index, trace_index, direction, account, counterparty, value, transaction_hash, type)
             SELECT address_key(account), 1, ${blockOf({ record })}, ${record.index}, 1, ${direction}, account, ${hexBytes(counterparty ?? '')}, 70, ${hexBytes(record.hash)}, 'CALL'
             FROM (SELECT ${hexBytes(account ?? '')}::bytea AS account) AS given`,
          );
    });
    afterAll(async () => {
      await stage.scratch.database.query(sql`TRUNCATE internal_transfers`);
      await stage.scratch.database.query(sql`DELETE FROM sync_ranges WHERE dataset = 'internal-transfers'`);
    });

    /** A call that emitted something, without known internal calls. */
    function someCall() {
      const [found] = recorded.filter(({ record }) => record.logs.length > 0 && record.value === '0');
      if (found === undefined) throw new Error('No call is recorded');
      return { ...found, place: 0 };
    }

    /** Tokens in exchange for something that only traces show. */
    function inferred() {
      return recorded
        .filter(({ classification }) => classification.isInferred)
        .map((one, place) => ({ ...one, place: place + 1 }));
    }

    function blockOf({ record }: Pick<RecordedTransaction, 'record'>): number {
      return Number(recorded.find((one) => one.record.hash === record.hash)?.block.split('/')[1]);
    }

    test('lists whoever got some, and says that traces are indexed only where they are', async () => {
      stage.settings.internalTransfers = 'all';
      const path = `wallets/${RECEIVER}/history`;
      const [wallet = ''] = parts().keys();
      expect((await stage.get(path)).indexed).toMatchObject({ complete: true, traces: 'none' });
      expect((await stage.get(`wallets/${wallet}/history`)).indexed.traces).toBe('none');
      const { database } = stage.scratch;
      await coverBlocks(database, 1, 'internal-transfers', 0, LAST_BLOCK - 1, 'none');
      // The newest block lacks them so far.
      expect((await stage.get(path)).indexed).toMatchObject({ complete: true, traces: 'none' });
      expect((await stage.get(`${path}?to_block=${LAST_BLOCK - 1}`)).indexed.traces).toBe('indexed');
      await database.query(
        sql`UPDATE sync_ranges SET last_block = ${LAST_BLOCK} WHERE dataset = 'internal-transfers'`,
      );
      const { record } = someCall();
      const leg = { from_address: record.to, to_address: RECEIVER, value: '70', internal_transaction: true };
      for (const query of ['', '?include_internal_transactions=true'])
        expect(await stage.get(`${path}${query}`)).toMatchObject({
          indexed: { complete: true, traces: 'indexed', from_block: '0' },
          result: [
            {
              ...{ hash: record.hash, from_address: record.from, category: 'receive' },
              native_transfers: [{ ...leg, direction: 'receive' }],
            },
          ],
        });
      expect((await stage.get(`wallets/${wallet}/history`)).indexed.traces).toBe('indexed');
    });

    test('infers nothing where it is known what came', async () => {
      stage.settings.internalTransfers = 'all';
      expect(inferred().length).toBeGreaterThan(3);
      for (const { record, seen } of inferred()) {
        const { result } = await stage.get(`wallets/${seen.wallet}/history`);
        const row = result.find(({ hash }) => hash === record.hash);
        expect(row).toMatchObject({ category: 'token swap' });
        expect(row).not.toHaveProperty('category_inferred');
        expect(row?.native_transfers.at(-1)).toMatchObject({ value: '70', internal_transaction: true });
      }
    });
  });

  test('has no node asked for what is stored, and says the same as from a node', async () => {
    const ofCategory = Map.groupBy(recorded, (one) => one.classification.category).values();
    const some = [...parts().keys()].filter((_, place) => place < 12 || place % 60 === 59);
    const wallets = [...new Set([...some, ...[...ofCategory].flatMap(([first]) => first?.seen.wallet ?? [])])];
    expect(wallets.length).toBeGreaterThan(25);
    const { database } = stage.scratch;
    const read = (requested: readonly Address[]) =>
      Promise.all(
        requested.map(async (wallet) => {
          const pages = await stage.pages(`wallets/${wallet}/history?limit=50`);
          return pages.flatMap(({ result }) => result);
        }),
      );
    await database.query(sql`TRUNCATE state_questions`);
    stage.node.counters.reset();
    const stored = await read(wallets);
    // Approvals that no dataset stores: of whole collections, and by Permit2.
    const otherwise = stored.flat().filter(isApprovedOtherwise);
    const hashes = new Set(otherwise.map(({ hash }) => hash));
    expect(await readThrough()).toEqual(hashes);
    expect(stage.node.counters.calls.eth_getTransactionByHash ?? 0).toBe(hashes.size);
    expect(otherwise.length).toBeLessThan(stored.flat().length / 20);
    stage.settings.maxCalls = 0;
    const whole = wallets.filter((_, place) => !stored[place]?.some(isApprovedOtherwise));
    expect(await read(whole)).toEqual(stored.filter((rows) => !rows.some(isApprovedOtherwise)));
    stage.reset();
    await forgetEvidence();
    expect(await read(wallets)).toEqual(stored);
    await restoreEvidence();
    expect((await readThrough()).size).toBeGreaterThan(hashes.size + 100);
    expect(new Set(stored.flat().map(({ category }) => category)).size).toBeGreaterThan(8);
  });

  test('has no node asked for logs where all are kept, and gives those that a node does', async () => {
    const wallets = [...parts().keys()].filter((_, place) => place < 12 || place % 60 === 59);
    const read = () => Promise.all(wallets.map((wallet) => stage.get(`wallets/${wallet}/history?include=logs`)));
    const requested = await read();
    expect(requested.flatMap(({ result }) => result.flatMap(({ logs }) => logs ?? [])).length).toBeGreaterThan(
      100,
    );
    stage.settings.logs = 'all';
    stage.settings.maxCalls = 0;
    await stage.scratch.database.query(sql`TRUNCATE state_questions`);
    const kept = await read();
    expect(kept.map(({ result }) => result)).toEqual(requested.map(({ result }) => result));
    expect(await readThrough()).toEqual(new Set());
  });

  /** As if each wallet had approvals without stored rows: transactions are then read from the node. */
  async function forgetEvidence(): Promise<void> {
    const { database } = stage.scratch;
    await database.query(sql`CREATE TABLE reported AS SELECT * FROM account_transactions`);
    await database.query(sql`UPDATE account_transactions SET evidence = evidence | (1 << 30) WHERE roles > 0`);
  }

  async function restoreEvidence(): Promise<void> {
    const { database } = stage.scratch;
    await database.query(
      sql`UPDATE account_transactions AS part SET evidence = reported.evidence FROM reported WHERE part.account = reported.account AND part.transaction_key = reported.transaction_key`,
    );
    await database.query(sql`DROP TABLE reported`);
  }

  /** Transactions that were read from a node. */
  async function readThrough(): Promise<ReadonlySet<string>> {
    const rows = await stage.scratch.database.query<{ hash: string }>(
      sql`SELECT DISTINCT item->>'hash' AS hash FROM state_questions, jsonb_array_elements(question->'items') AS item`,
    );
    return new Set(rows.map(({ hash }) => hash));
  }
});

function isApprovedOtherwise({ contract_interactions: reported }: HistoryAnswer['result'][number]): boolean {
  const amounts = [...(reported?.approvals ?? []), ...(reported?.revokes ?? [])];
  return (
    reported?.set_approvals_all !== undefined ||
    reported?.set_revokes_all !== undefined ||
    amounts.some((one) => 'expiration' in one)
  );
}

function isStored(block: string): boolean {
  const [chain, number] = block.split('/');
  return chain === 'ethereum' && Number(number) >= FIRST_BLOCK && Number(number) <= LAST_BLOCK;
}

function accountsIn(record: RecordedTransaction['record']): ReadonlySet<Address> {
  const accounts = new Set<string>([
    record.from,
    record.to ?? record.from,
    record.contractAddress ?? record.from,
  ]);
  for (const { topics, data } of record.logs) {
    const words = topics.slice(1).map((topic) => `0x${topic.slice(-40)}`);
    const [first = '', second = '', third = ''] = words;
    if (
      topics[0] === TRANSFER &&
      (topics.length === 4 ? data === '0x' : topics.length === 3 && data.length === 66)
    )
      for (const side of [first, second]) accounts.add(side);
    if (topics[0] === SINGLE || topics[0] === BATCH) for (const side of [second, third]) accounts.add(side);
    if (topics[0] === APPROVAL && topics.length === 3 && data.length === 66) accounts.add(first);
  }
  return accounts as ReadonlySet<string> as ReadonlySet<Address>;
}

const TRANSFER = parseHash('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef');
const SINGLE = parseHash('0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62');
const BATCH = parseHash('0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb');
const APPROVAL = parseHash('0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925');

/** The one with most of its sender's legs. */
function busiest(recorded: readonly RecordedTransaction[]): RecordedTransaction {
  const [first] = recorded.toSorted(
    (one, other) =>
      other.seen.tokens.length + other.seen.nfts.length - one.seen.tokens.length - one.seen.nfts.length,
  );
  if (first === undefined) throw new Error('No transaction is recorded');
  return first;
}
