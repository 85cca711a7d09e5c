import { KEY_PATTERN } from '@chainstead/http/key-store';
import { z } from 'zod';
import { aptosKeys } from './aptos-keys.ts';
import { gatewayKeys } from './gateway-keys.ts';
import { keysOf } from './key-facts.ts';
import { nameKeys } from './name-keys.ts';
import { priceKeys } from './price-keys.ts';
import { PORT_MAX, processKeys } from './process-keys.ts';
import {
  addressUrl,
  backfillProof,
  chainName,
  configuredKey,
  DATASET_NAMES,
  datasetList,
  httpUrls,
  LIGHT,
  listOf,
  oneOf,
  plainText,
  pollInterval,
  postgresUrl,
  privateNetworks,
  proofPolicy,
  urlOf,
  verifyBlocksPerSecond,
  wholeNumber,
} from './values.ts';
import { webhookKeys } from './webhook-keys.ts';

const storage = keysOf('Storage');
const api = keysOf('API');
const limits = keysOf('Limits');
const chains = keysOf('Chains');
const onDemand = keysOf('On demand');
const verification = keysOf('Verification');

const origins = plainText.transform((text): '*' | readonly string[] =>
  text === '*' ? '*' : text.split(',').map((origin) => origin.trim()),
);

const storageKeys = {
  DATABASE_URL: storage.optional(postgresUrl, {
    description:
      'Postgres 15 or newer. Several hosts (host1:5432,host2:5432) and the TLS parameters of libpq are supported',
    example: 'postgres://chainstead:secret@127.0.0.1:5432/chainstead',
    whenAbsent: 'an embedded Postgres, with its data in DATA_DIR',
    isUrl: true,
  }),
  DATABASE_SESSION_URL: storage.optional(postgresUrl, {
    description:
      'Direct URL of the same database if DATABASE_URL uses a pooler in transaction mode. Leadership, queues and notifications need a session',
    example: 'postgres://chainstead:secret@127.0.0.1:5432/chainstead',
    whenAbsent: 'DATABASE_URL, which then must not use a pooler in transaction mode',
    isUrl: true,
  }),
  DATABASE_SUPERUSER_URL: storage.optional(postgresUrl, {
    description:
      'Server of DATABASE_URL with a superuser, for `chainstead provision` only. Do not set it for other commands',
    example: 'postgres://postgres:secret@127.0.0.1:5432/postgres',
    whenAbsent: 'none; `chainstead provision` fails without it',
    isUrl: true,
  }),
  DATABASE_READ_URL: storage.optional(postgresUrl, {
    description:
      'Hot standbys of DATABASE_URL, one per host (host1:5432,host2:5432). The API reads most lists from them. Data that a standby does not have yet is read from the primary',
    allowed: 'a postgres:// URL with a database name; requires DATABASE_URL',
    example: 'postgres://chainstead:secret@standby-1:5432,standby-2:5432/chainstead',
    whenAbsent: 'all reads use DATABASE_URL',
    isUrl: true,
  }),
  DATABASE_ANALYST_URL: storage.optional(postgresUrl, {
    description:
      'The same database as a role that is only a member of chainstead_reader. MCP_SQL and GRAPHQL read with it',
    example: 'postgres://analyst:secret@127.0.0.1:5432/chainstead',
    whenAbsent: 'the program makes the role, if it may create roles',
    isUrl: true,
  }),
  DATABASE_DISK_BYTES: storage.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER), {
    description:
      'Size in bytes of the disk that holds the Postgres data. Used to estimate days until full; Postgres does not report disk size',
    example: '500000000000',
    whenAbsent: 'measured for an embedded Postgres, otherwise unknown',
  }),
  DATA_DIR: storage.withDefault(plainText, {
    description: 'Folder of the embedded Postgres and of the first console key. Created if missing',
    allowed: 'a path that the process can write to',
    example: '/var/lib/chainstead',
    default: './.chainstead',
  }),
  REDIS_URL: storage.optional(urlOf('redis:', 'rediss:'), {
    description: 'Redis for schedules (maxmemory-policy noeviction)',
    allowed: 'a redis:// or rediss:// URL',
    example: 'redis://127.0.0.1:6379/0',
    whenAbsent: 'schedules are stored in Postgres',
    isUrl: true,
  }),
};

const apiKeys = {
  HOST: api.withDefault(plainText, {
    description: 'Address that the API listens on. Any address except loopback requires an API key',
    allowed: 'an IP address or host name of this machine',
    example: '0.0.0.0',
    default: '127.0.0.1',
  }),
  PORT: api.withDefault(wholeNumber(0, PORT_MAX), {
    description: 'Port that the API listens on. 0 selects a free port',
    example: '9000',
    default: '8080',
  }),
  API_KEYS: api.optional(listOf(configuredKey), {
    description:
      'API keys, in addition to those created with `chainstead keys create`. A key has all scopes, or the scopes listed after it: data (data routes), rpc (JSON-RPC), streams, admin (console and webhook secret)',
    allowed:
      'a comma list of keys, each 8 to 128 of A-Z a-z 0-9 . _ -, with or without scopes as in key:data+rpc',
    example: 'a-long-random-key,key-of-a-web-page:rpc',
    whenAbsent:
      'only keys created with `chainstead keys create`; without any key, the API is open to this machine only',
    isSecret: true,
  }),
  METRICS_KEY: api.optional(plainText.regex(KEY_PATTERN, 'is not 8 to 128 of A-Z a-z 0-9 . _ -'), {
    description: 'Key for /metrics, sent as X-API-Key or Authorization: Bearer. It gives access to nothing else',
    allowed: '8 to 128 of A-Z a-z 0-9 . _ -',
    example: 'a-key-for-prometheus',
    whenAbsent: 'no key is needed on METRICS_PORT or a loopback address; on other addresses, /metrics is closed',
    isSecret: true,
  }),
  PROTECT_DOCS: api.withDefault(oneOf('true', 'false'), {
    description:
      'Whether /docs and /openapi.json require an API key, once a key exists. Browsers prompt for it as a password',
    example: 'true',
    default: 'false',
  }),
  DOCUMENTATION_URL: api.optional(urlOf('http:', 'https:'), {
    description:
      'URL of the documentation site that you built with `npm run docs:build`. /docs and the console link to it',
    allowed: 'an http or https URL',
    example: 'https://docs.example.com',
    whenAbsent: 'no link',
  }),
  MCP_SQL: api.withDefault(oneOf('true', 'false'), {
    description:
      'Whether agents get the tool `sql` at /mcp, and the console its SQL page, as a role that can only read',
    example: 'true',
    default: 'false',
  }),
  GRAPHQL: api.withDefault(oneOf('true', 'false'), {
    description: 'Whether the API serves GraphQL at /graphql, as a role that can only read',
    example: 'true',
    default: 'false',
  }),
  CONNECTIONS_MAX: api.withDefault(wholeNumber(10, 1_000_000), {
    description:
      'Maximum number of concurrent connections per process. At the limit, an idle connection is closed for a new one; without idle connections, new ones are closed. Half of them may be JSON-RPC WebSockets, a twentieth those of one key',
    example: '10000',
    default: '2000',
  }),
  PAGE_LIMIT_MAX: api.withDefault(wholeNumber(1, 10_000), {
    description: 'Maximum page size. A larger `limit` is reduced to it',
    example: '500',
    default: '100',
  }),
  RATE_LIMIT: api.withDefault(wholeNumber(0, 1_000_000), {
    description:
      'Requests per second per key, across all processes. JSON-RPC calls have the same limit unless GATEWAY_RATE_LIMIT is set. 0 means no limit',
    example: '40',
    default: '0',
  }),
  CORS_ORIGINS: api.withDefault(origins, {
    description:
      'Origins of web pages that may call the API, once a key is configured. Without a key, only pages on this machine may (http://localhost:5173)',
    allowed: '* or a comma list of origins',
    example: 'https://app.example.com',
    default: '*',
  }),
  READY_LAG_BLOCKS: api.withDefault(wholeNumber(0), {
    description: 'Maximum number of blocks that a chain may be behind its head for /synced to return 200',
    example: '5',
    default: '20',
  }),
};

const egressKeys = {
  WEBHOOK_ALLOW_PRIVATE: limits.withDefault(privateNetworks, {
    description:
      'Private networks that webhook and metadata URLs may reach. For development only: clients who set such a URL can reach everything that this machine can',
    allowed: 'false, true, or a comma list of CIDRs',
    example: '10.20.0.0/16,127.0.0.1/32',
    default: 'false',
  }),
};

const contractKeys = {
  CONTRACTS_FILE: chains.optional(plainText, {
    description:
      'YAML file with your own contracts. It is applied at start and after each change. Contracts that it lacks are kept',
    allowed: 'a path of a file',
    example: '/etc/chainstead/contracts.yaml',
    whenAbsent: 'contracts are added by `chainstead contracts add` or in the console',
  }),
  ABI_SOURCE: chains.optional(addressUrl, {
    description:
      'Server of verified contracts, such as Sourcify or an explorer with the API of Etherscan. The console and `chainstead contracts add` request ABIs from it. It learns the addresses',
    allowed: 'an http or https URL with {address}, and {chain_id} if the server has several chains',
    example: 'https://sourcify.dev/server/v2/contract/{chain_id}/{address}?fields=abi',
    whenAbsent: 'ABIs come from files and forms',
    isUrl: true,
  }),
  CONTRACT_BYTES_MAX: limits.withDefault(wholeNumber(0, Number.MAX_SAFE_INTEGER), {
    description:
      'Maximum number of bytes in the tables of one of your own contracts, with indexes. Above it, the contract is suspended. 0 disables the limit',
    allowed: 'a whole number, 0 or more',
    example: '1000000000',
    default: '50000000000',
  }),
};

const onDemandKeys = {
  ON_DEMAND_WAIT_MS: onDemand.withDefault(wholeNumber(0, 60_000), {
    description: 'Milliseconds that a request waits for on-demand reads, such as metadata and balances',
    example: '3000',
    default: '1500',
  }),
  BALANCE_MAX_AGE_MS: onDemand.withDefault(wholeNumber(0, 3_600_000), {
    description:
      'Milliseconds for which a balance read from a contract is cached. Applies to tokens whose transfers do not determine their balances',
    example: '10000',
    default: '60000',
  }),
  NATIVE_BALANCE_MAX_AGE_MS: onDemand.withDefault(wholeNumber(0, 600_000), {
    description: 'Milliseconds for which a native token balance is cached',
    example: '5000',
    default: '15000',
  }),
  IPFS_GATEWAYS: onDemand.withDefault(httpUrls, {
    description: 'Gateways for ipfs:// metadata, tried in order',
    example: 'https://ipfs.example.com',
    default: 'https://ipfs.io,https://dweb.link',
    isUrl: true,
  }),
  ARWEAVE_GATEWAYS: onDemand.withDefault(httpUrls, {
    description: 'Gateways for ar:// metadata, tried in order',
    example: 'https://arweave.example.com',
    default: 'https://arweave.net',
    isUrl: true,
  }),
  ON_DEMAND_MAX_CALLS: onDemand.withDefault(wholeNumber(0, 10_000_000), {
    description:
      'Maximum number of node calls for one on-demand backfill of a wallet or collection below the indexed range. A backfill with a higher estimate is refused. 0 disables on-demand backfills',
    example: '50000',
    default: '10000',
  }),
  ON_DEMAND_COLLECTION_RATE: onDemand.withDefault(wholeNumber(1, 10_000), {
    description:
      'Maximum number of metadata documents read per second and chain for requested collection traits and rarity',
    example: '100',
    default: '20',
  }),
  ON_DEMAND_CALLS_PER_KEY: onDemand.withDefault(wholeNumber(1, 1_000_000), {
    description:
      'Node calls per second that requests of one API key may cause, on average of ten seconds and over all processes: prices with proofs, balances, calls of contracts, previews of streams. More get 429 with Retry-After. On-demand backfills of the key wait instead: they may make three quarters of these calls, and in a day as many as in six hours. Webhooks with triggers or native balances wait for the same rate',
    example: '50',
    default: '200',
  }),
  ON_DEMAND_CONCURRENCY_PER_KEY: onDemand.withDefault(wholeNumber(1, 1_000_000), {
    description: 'Maximum number of on-demand backfills, collections and lookups in the queue per API key',
    example: '1000',
    default: '100',
  }),
};

const chainSelectionKeys = {
  CHAINS: chains.optional(listOf(chainName), {
    description: 'Chains to index',
    allowed: 'a comma list of chain names in lower case, for example eth, base, polygon, base-sepolia',
    example: 'eth,base',
    whenAbsent: 'no chain is indexed',
  }),
  DATASETS: chains.optional(datasetList, {
    description: `Datasets to index. ${LIGHT}: all except those of exchanges, without swaps and token prices. Routes of other datasets return 400`,
    allowed: `a comma list of ${[LIGHT, ...DATASET_NAMES].join(', ')}`,
    example: LIGHT,
    whenAbsent: 'all datasets',
  }),
  TRANSACTION_INPUT: chains.withDefault(oneOf('full', 'selector'), {
    description:
      'Stored calldata of indexed transactions: all of it (full) or the first four bytes (selector). With selector, the rest is read from a node on request',
    example: 'selector',
    default: 'full',
  }),
  VERIFY_SENDERS: verification.withDefault(oneOf('on', 'off'), {
    description:
      'Whether stored senders are recovered from signatures before indexing (on), or taken from the node (off, faster). Responses report which of the two applies',
    example: 'off',
    default: 'on',
  }),
  POLL_INTERVAL_MS: chains.optional(pollInterval, {
    description: 'Milliseconds between polls for a new head, on every chain without a subscription to new heads',
    example: '2000',
    whenAbsent: 'the default of each chain, about half its block time',
  }),
  VERIFICATION: verification.optional(proofPolicy, {
    description:
      'Action for a block whose receipts root no upstream can reproduce, on every chain. strict stops the chain; record stores the block as unproven',
    example: 'record',
    whenAbsent: 'the default of each chain: strict if its receipt encoding is known, otherwise record',
  }),
  BACKFILL_PROOF: verification.withDefault(backfillProof, {
    description:
      'Whether historical blocks are served before they are proven (none), or only after proof by full receipts (receipts, slower)',
    example: 'receipts',
    default: 'none',
  }),
  VERIFY_BLOCKS_PER_SECOND: verification.withDefault(verifyBlocksPerSecond, {
    description:
      'Maximum number of blocks per second and chain that the background prover verifies. With auto, as many as the upstreams allow: at most one rejected call in twenty and no delay at the head. On public endpoints, auto is 5. 0 disables the prover',
    allowed: 'auto, or a number from 0 to 100000',
    example: '50',
    default: 'auto',
  }),
};

export const globalKeys = z.object({
  ...processKeys,
  ...storageKeys,
  ...contractKeys,
  ...apiKeys,
  ...egressKeys,
  ...onDemandKeys,
  ...priceKeys,
  ...nameKeys,
  ...webhookKeys,
  ...gatewayKeys,
  ...chainSelectionKeys,
  ...aptosKeys,
});

export type GlobalSettings = z.output<typeof globalKeys>;
