/** What always holds, by id. `// Invariant: <id>` marks the code that enforces it and the tests that check it. */
export const INVARIANTS: Readonly<Record<string, string>> = {
  'SYNC-WHOLE-BLOCK': "A block's rows, header, coverage and checkpoint are written in one transaction.",
  'SYNC-NO-GAP': 'Every block that a dataset wants is either covered or listed as a gap.',
  'SYNC-NO-DUPLICATE': 'No row is stored twice, whichever processes read its block and however often.',
  'SYNC-COVERAGE-DISJOINT':
    'Coverage ranges of a dataset never overlap: a new record replaces earlier ones of its blocks.',
  'SYNC-CLAIMS-DISJOINT': 'A block range has at most one live claim, and only its owner can cover the range.',
  'SYNC-ONE-LEADER': 'Only the leader of a chain follows it: commits of a former leader are refused.',
  'SYNC-PARENT-CHECKPOINT': 'A followed block is committed only on top of the checkpoint that is its parent.',
  'SYNC-REORG-LIMIT': 'A reorg deeper than the limit stops the chain and changes no row.',
  'SYNC-ROLLBACK-WHOLE':
    'Rows of an abandoned branch are removed with their coverage and all that is derived from them.',
  'SYNC-SAME-HASH': 'A backfilled block is refused if the followed chain has another hash at its number.',
  'SYNC-PROJECTIONS-EQUAL':
    'Projections equal the rows they are derived from, in whatever order these arrive, change and go.',
  'SYNC-SUBJECT-ONCE':
    'The projection of a wallet or contract counts each of its rows once, even while rows change.',
  'SYNC-PURE-DECODING': 'Decoders are pure: rows follow from the chain, its logs and its block times alone.',
  'SYNC-DEADLY-BLOCK':
    'A block whose decoding or matching ends the process three times is quarantined, and the chain continues.',
  'SYNC-RETENTION-COVERAGE':
    'Retention removes whole ranges of old blocks, and their coverage before or with the rows.',
  'SYNC-TABLES-MATCH': 'The program starts only if the tables have the columns and keys that its datasets write.',
  'PROOF-RECEIPTS-ROOT':
    'The level receipts is recorded only for a block whose receipts match the root of its header.',
  'PROOF-SENDERS':
    'A followed block whose senders are checked is committed only if every signature gives the sender that is stored.',
  'PROOF-SOURCE-CANONICAL':
    'A block of a source of history is stored as proven only below a canonical hash, with nothing that its roots do not contain.',
  'PROOF-SAME-CHAIN':
    'A block is proven, and a row repaired, only if parent hashes link the block to the followed chain or a second upstream has it.',
  'PROOF-TRACES':
    'Traces are used only if the outermost call of each Ethereum-type transaction matches the transaction.',
  'PAGE-KEYSET': 'A run of pages never repeats or skips a row that stays, while new rows arrive.',
  'PAGE-ONE-SNAPSHOT': 'The rows of a page and their blocks come from one snapshot, or the page is read again.',
  'PAGE-COMPLETE':
    'The field complete is true only if every requested block is covered and none contradicts its header.',
  'PAGE-SIGNED-CURSOR':
    "A cursor is accepted only if this server's secret signed it, for the same list and filter.",
  'BALANCE-RIGHT-OR-ABSENT':
    "A shown balance of a token that adds up is the contract's at the stated block; an untrusted one is absent.",
  'BALANCE-NOT-NEGATIVE': 'A sum of transfers below zero is never shown as a balance.',
  'BALANCE-HOLDERS':
    "Holder counts of a token that adds up equal the contract's, or are absent or marked as incomplete.",
  'NFT-OWNERS': "A shown owner and amount are the contract's, and an unknown amount is left out.",
  'NFT-TRAITS-WHOLE':
    'Traits and ranks of a collection come from one generation, which is shown only once it is whole.',
  'PRICE-PROVEN-POOLS': 'Only pools that a known factory is proven to have created have a say in a price.',
  'PRICE-NOT-GUESSED': 'A price that pools or feeds do not settle is absent, with the reason.',
  'PRICE-PROOF-ALONE':
    "A price's proof is verified from the document and block hashes alone; any changed member is rejected.",
  'STREAM-OUTBOX': 'A webhook is recorded in the transaction of its block, so that none is lost.',
  'STREAM-DEFERRED':
    'Streams of a key that exceed its work per block match the block later; all others match it in its transaction.',
  'STREAM-STABLE-ID':
    'A webhook has the same id in every attempt and replay, so that receivers can drop duplicates.',
  'STREAM-SIGNED-TEXT': 'The signed bytes of a webhook are the sent bytes.',
  'STREAM-REMOVED':
    'A webhook of a removed block is dropped before delivery, or followed by a removal if the stream requests it.',
  'STREAM-DEADLY-WEBHOOK':
    'A webhook with triggers, balances or long contents that ends the process three times is set aside; all others are delivered.',
  'GATEWAY-HEAD-FLOOR':
    'Responses of a chain with several upstreams never show an older head than an earlier response, whichever process serves them.',
  'GATEWAY-WRITE-ONCE': 'A raw transaction is sent at most once to each upstream, and never hedged.',
  'EGRESS-PUBLIC-ADDRESS':
    'An untrusted URL reaches public addresses only, and the connection goes to the checked address.',
  'EGRESS-BOUNDED':
    'An untrusted response is bounded in time as a whole, and in size before and after decompression.',
  'WORK-ONE-HOLDER': 'A due row has one holder at a time, until its lease ends.',
  'WORK-QUARANTINE': 'Work that ended the process three times is quarantined and not tried again.',
  'FAIR-KEYS': 'Work of one key at its limits holds up no head, and no request or webhook of another key.',
  'FAIR-BACKFILLS':
    'On-demand backfills of an API key make no more node calls than its rate, and keys take turns.',
  'DB-MIGRATE-ONCE': 'Each migration runs once, in one transaction, however many processes start together.',
  'DB-SHORT-LOCKS':
    'A statement that locks a table against readers or writers waits a second at most, and holds no commit lock meanwhile.',
  'DB-SESSION-SETTINGS':
    'Settings of the server, the database or the role change neither rows nor responses: each session sets its own.',
  'DB-READ-ONLY': 'SQL and GraphQL of clients run read-only, as a role that is refused if it could write.',
  'HTTP-BODY-BOUNDED':
    'A request body is bounded in bytes while it arrives, and in values before it is parsed, as are responses of nodes, sources and other servers.',
  'HTTP-ABI-MEASURED': 'Untrusted ABI data is measured before it is decoded, and refused above its bound.',
  'HTTP-KEY-HASHES': 'Created API keys are stored as SHA-256 only; the key itself is returned once.',
  'LAKE-WHOLE-FILES': 'The manifest of an export lists only files that are written whole.',
  'APTOS-ROOT-CONFIRMED':
    "A version's root is stored as confirmed only if a second fullnode returns the same; two different roots stop the chain.",
};
