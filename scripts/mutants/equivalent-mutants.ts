/** Mutants that no test can kill, since the program behaves as before. By key, with the reason. */
export const EQUIVALENT_MUTANTS: ReadonlyMap<string, string> = new Map([
  [
    'packages/engine/sync/src/projections/build-turns.ts:constant:1#2',
    'A turn builds 199 subjects instead of 200 and the next turn builds the rest: only the pace differs.',
  ],
  [
    'packages/engine/sync/src/backfill/backfill-chunk.ts:constant:6#1',
    'Seven proven reads are in flight instead of six: only the pace differs.',
  ],
  [
    'packages/foundation/proof/src/receipts/bloom.ts:order:setBit(bloom, offset, low >> 11); setBit(bloom, offset, low & (BLOOM_BITS - 1));#1',
    'Bits of a bloom filter can be set in any order.',
  ],
  [
    'packages/assets/nft/src/trades/marketplaces/x2y2.ts:order:previous = log; profits = [];#1',
    'Neither assignment reads the other variable.',
  ],
  [
    'packages/assets/erc20/src/transfers/wallet-transfers-page.ts:constant:1#2',
    'A total above the limit is reported as null, so counting one row more shows nothing: only the work differs.',
  ],
  [
    'packages/foundation/core/src/cursors/cursor.ts:order:bytes[0] = VERSION; bytes.set(signature, 1);#1',
    'The two writes fill different bytes.',
  ],
  [
    'packages/products/streams/src/matching/stream-index.ts:order:transactions ||= stream.needs.transactions; internalTransfers ||= stream.needs.internalTransfers;#1',
    'Neither assignment reads the other variable.',
  ],
  [
    'packages/products/streams/src/payload/webhook-contents.ts:order:approvals.nftTokenApprovals.push({ ...at, ...all, ...facts, possibleSpam }); approvals.nftApprovals.ERC1155.push({ ...at…#1',
    'The two pushes go to different lists.',
  ],
  [
    'packages/products/streams/src/delivery/test-webhook.ts:constant:22#1',
    'The digest only names a counter: one character more separates the same hosts.',
  ],
  [
    'packages/products/gateway/src/serving/exchange.ts:order:this.outgoing.end(text); this.#log(status);#1',
    'Both calls return before the response is written, and the log line contains nothing that sending changes.',
  ],
  [
    "packages/engine/http/src/parameters/paging.ts:order:refuseReversed('block', bounds.from_block, bounds.to_block, String); refuseReversed('date', bounds.from_date, bounds.to_…#1",
    'A request has two blocks or two dates, since a block replaces the date of its side: only one of the checks can refuse it.',
  ],
  [
    "packages/assets/erc20/src/anchored-sums/store-readings.ts:order:await saveClass(transaction, context, 'sum', whose('agree')); await saveClass(transaction, context, 'live', whose('diffe…#1",
    'The class `live` is permanent, so a token of both classes is `live` in either order.',
  ],
  [
    'packages/engine/sync/src/read/read-source-blocks.ts:order:expected += 1; previous = hash;#1',
    'Neither assignment reads the other variable.',
  ],
  [
    'packages/engine/sync/src/status/status-reports.ts:constant:5#1',
    'A process that ended without a word counts as leading for two seconds more.',
  ],
  [
    'packages/foundation/proof/src/tries/ordered-trie.ts:order:to - from#4',
    'The lowest bit of a difference is the same in both directions.',
  ],
  [
    'packages/assets/erc20/src/transfers/token-stats/get-token-stats.ts:constant:0#5',
    'More rows than the limit were counted, so at least one: the larger of one and that count is the count.',
  ],
  [
    'packages/foundation/core/src/cursors/cursor.ts:order:bytes.write(json, JSON_AT); // Before the JSON, so that the signed bytes are contiguous. bytes[JSON_AT - 1] = VERSION;#1',
    'The two writes fill different bytes.',
  ],
  [
    'packages/products/gateway/src/subscriptions/chain-feed.ts:comparison:first < blocks.length#1',
    'One more turn reads no block.',
  ],
  [
    'packages/engine/pages/src/known-for.ts:order:known = requested; requested.value.catch(() => { if (known === requested) known = null; });#1',
    'The callback runs after both statements.',
  ],
  [
    'packages/products/streams/src/delivery/delivery-metrics.ts:order:webhooksPending.set({ status: label }, value); webhookOldestPendingSeconds.set({ status: label }, oldest);#1',
    'Two metrics are set, and neither reads the other.',
  ],
  [
    'packages/products/streams/src/delivery/attempt-recorder.ts:order:waiting = waiting.slice(batch.length); await commit(options, batch);#1',
    'Attempts that come during the commit are appended, so the same ones are left in either order.',
  ],
  [
    'packages/assets/erc20/src/balance-proofs/prove-balance.ts:order:opinions.push(opinion); heard.add(opinion.upstream);#1',
    'Two collections are added to, and neither call reads the other.',
  ],
  [
    'packages/assets/erc20/src/balance-proofs/fetch-proofs.ts:constant:1#1',
    'Only the sign of a comparison counts.',
  ],
  [
    'packages/products/streams/src/payload/token-events.ts:constant:0#1',
    'No decoder reads the block number, which is made up.',
  ],
  [
    'packages/products/streams/src/matching/match-block.ts:order:matchTransactions(matching); matchInternalTransfers(matching);#1',
    'The two fill different collections of a draft, and matches are sorted at the end.',
  ],
  [
    "packages/engine/sync/src/rows/write-batch.ts:condition:mode.blocks === 'empty-range'#1",
    'Followed blocks have no rows yet, and the checkpoint decides in both ways: the staging table only takes longer.',
  ],
]);
