/** The configuration keys that are written as they are (those of one chain: chain-keys.ts). */
import { KEY_PATTERN } from '@chainstead/http/configured-key';
import { z } from 'zod';
import { aptosKeys } from './aptos-keys.ts';
import { gatewayKeys } from './gateway-keys.ts';
import { optional, withDefault } from './key-facts.ts';
import { nameKeys } from './name-keys.ts';
import { PORT_MAX, processKeys } from './process-keys.ts';
import {
  backfillProof,
  chainName,
  configuredKey,
  DATASET_NAMES,
  datasetByName,
  listOf,
  oneOf,
  plainText,
  pollInterval,
  postgresUrl,
  privateNetworks,
  proofPolicy,
  proverRate,
  urlOf,
  wholeNumber,
} from './values.ts';
import { webhookKeys } from './webhook-keys.ts';

const storageKeys = {
  DATABASE_URL: optional(postgresUrl, {
    group: 'Storage',
    description:
      'Postgres 15 or newer; several hosts (host1:5432,host2:5432) and the TLS parameters of libpq are understood',
    allowed: 'a postgres:// URL with a database name',
    example: 'postgres://chainstead:secret@127.0.0.1:5432/chainstead',
    whenAbsent: 'an embedded Postgres runs, its data in DATA_DIR',
    isUrl: true,
  }),
  DATABASE_SESSION_URL: optional(postgresUrl, {
    group: 'Storage',
    description:
      'The same database past a pooler in transaction mode, for what needs a session: leadership, queues, notifications',
    allowed: 'a postgres:// URL with a database name',
    example: 'postgres://chainstead:secret@127.0.0.1:5432/chainstead',
    whenAbsent: 'DATABASE_URL serves for it, and must not lead through a pooler in transaction mode',
    isUrl: true,
  }),
  DATABASE_SUPERUSER_URL: optional(postgresUrl, {
    group: 'Storage',
    description:
      'The server of DATABASE_URL as a superuser, for `chainstead provision` alone. Not for the program itself',
    allowed: 'a postgres:// URL with a database name',
    example: 'postgres://postgres:secret@127.0.0.1:5432/postgres',
    whenAbsent: '`chainstead provision` is refused',
    isUrl: true,
  }),
  DATABASE_READ_URL: optional(postgresUrl, {
    group: 'Storage',
    description:
      'Hot standbys of DATABASE_URL that the API reads most of its lists from, each host a standby (host1:5432,host2:5432). What they do not have yet is read from the primary',
    allowed: 'a postgres:// URL with a database name; DATABASE_URL has to be set, too',
    example: 'postgres://chainstead:secret@standby-1:5432,standby-2:5432/chainstead',
    whenAbsent: 'everything is read from DATABASE_URL',
    isUrl: true,
  }),
  DATABASE_READ_MAX_LAG_SECONDS: withDefault(wholeNumber(1, 300), {
    group: 'Storage',
    description: 'A standby of DATABASE_READ_URL that is further behind is not read from',
    allowed: 'a whole number from 1 to 300',
    example: '30',
    default: '10',
  }),
  DATABASE_DISK_BYTES: optional(wholeNumber(1, Number.MAX_SAFE_INTEGER), {
    group: 'Storage',
    description:
      'Size of the disk that DATABASE_URL lies on, in bytes: how long it lasts is told from it, since Postgres does not say what is free',
    allowed: 'a whole number from 1',
    example: '500000000000',
    whenAbsent: 'it is read where Postgres is embedded, and unknown elsewhere',
  }),
  DATABASE_POOL_SIZE: withDefault(wholeNumber(2, 200), {
    group: 'Storage',
    description:
      'Connections to Postgres that each process may hold; the API as many to each standby of DATABASE_READ_URL',
    allowed: 'a whole number from 2 to 200',
    example: '20',
    default: '10',
  }),
  DATABASE_PREPARED: withDefault(oneOf('true', 'false'), {
    group: 'Storage',
    description:
      'Whether the API and the worker keep their statements prepared. Behind a pooler in transaction mode that takes PgBouncer 1.21 or newer with max_prepared_statements',
    allowed: 'true or false',
    example: 'false',
    default: 'true',
  }),
  DATA_DIR: withDefault(plainText, {
    group: 'Storage',
    description: 'Folder of the embedded Postgres, and of the first key for the console; made when it is missing',
    allowed: 'a path that the process can write to',
    example: '/var/lib/chainstead',
    default: './.chainstead',
  }),
  REDIS_URL: optional(urlOf('redis:', 'rediss:'), {
    group: 'Storage',
    description: 'Redis for the job queues (maxmemory-policy noeviction)',
    allowed: 'a redis:// or rediss:// URL',
    example: 'redis://127.0.0.1:6379/0',
    whenAbsent: 'the queues live in Postgres',
    isUrl: true,
  }),
};

const apiKeys = {
  HOST: withDefault(plainText, {
    group: 'API',
    description: 'Address that the API listens on. Any other than a loopback address needs an API key',
    allowed: 'an IP address or host name of this machine',
    example: '0.0.0.0',
    default: '127.0.0.1',
  }),
  PORT: withDefault(wholeNumber(0, PORT_MAX), {
    group: 'API',
    description: 'Port that the API listens on; 0 takes a free one',
    allowed: 'a whole number from 0 to 65535',
    example: '9000',
    default: '8080',
  }),
  API_KEYS: optional(listOf(configuredKey), {
    group: 'API',
    description:
      'Accepted keys, beside those made with `chainstead keys create`. A key may be used for everything, or for the scopes that stand behind it: data (data routes), rpc (JSON-RPC), streams, admin (the secret of the webhooks)',
    allowed: 'a comma list of keys, each 8 to 128 of A-Z a-z 0-9 . _ -, with or without scopes as in key:data+rpc',
    example: 'a-long-random-key,key-of-a-web-page:rpc',
    whenAbsent: 'only keys made with `chainstead keys create`; without any, the API is open to this machine alone',
    isSecret: true,
  }),
  METRICS_KEY: optional(plainText.regex(KEY_PATTERN, 'is not 8 to 128 of A-Z a-z 0-9 . _ -'), {
    group: 'API',
    description: 'Key that /metrics is read with, as X-API-Key or Authorization: Bearer; it opens nothing else',
    allowed: '8 to 128 of A-Z a-z 0-9 . _ -',
    example: 'a-key-for-prometheus',
    whenAbsent: '/metrics needs no key on METRICS_PORT or a loopback address, and is closed elsewhere',
    isSecret: true,
  }),
  PROTECT_DOCS: withDefault(oneOf('true', 'false'), {
    group: 'API',
    description: 'Whether /docs and /openapi.json need an API key once there is one; browsers ask for it as a password',
    allowed: 'true or false',
    example: 'true',
    default: 'false',
  }),
  CONNECTIONS_MAX: withDefault(wholeNumber(10, 1_000_000), {
    group: 'API',
    description:
      'Connections at once to each process, WebSockets included; further ones are closed as they come, idle ones make room for them',
    allowed: 'a whole number from 10 to 1000000',
    example: '10000',
    default: '2000',
  }),
  PAGE_LIMIT_MAX: withDefault(wholeNumber(1, 10_000), {
    group: 'API',
    description: 'Largest page: a larger `limit` is lowered to it',
    allowed: 'a whole number from 1 to 10000',
    example: '500',
    default: '100',
  }),
  RATE_LIMIT: withDefault(wholeNumber(0, 1_000_000), {
    group: 'API',
    description:
      'Requests a second that each key may make, to all processes together, and as many JSON-RPC calls unless GATEWAY_RATE_LIMIT is set; 0 is no limit',
    allowed: 'a whole number from 0 to 1000000',
    example: '40',
    default: '0',
  }),
  CORS_ORIGINS: withDefault(plainText.transform(splitOrigins), {
    group: 'API',
    description:
      'Web pages that may call the API from a browser, once a key is configured. Without a key, pages of this machine may (http://localhost:5173)',
    allowed: '* or a comma list of origins',
    example: 'https://app.example.com',
    default: '*',
  }),
  READY_LAG_BLOCKS: withDefault(wholeNumber(0), {
    group: 'API',
    description: 'Blocks that a chain may be behind its head while /synced still answers 200',
    allowed: 'a whole number from 0',
    example: '5',
    default: '20',
  }),
};

const egressKeys = {
  WEBHOOK_ALLOW_PRIVATE: withDefault(privateNetworks, {
    group: 'Limits',
    description:
      'Private networks that webhook and metadata URLs may reach. For development only: whoever sets such a URL reaches what this machine reaches',
    allowed: 'false, true, or a comma list of CIDRs',
    example: '10.20.0.0/16,127.0.0.1/32',
    default: 'false',
  }),
};

const onDemandKeys = {
  INDEX_WAIT_MS: withDefault(wholeNumber(0, 60_000), {
    group: 'On demand',
    description: 'Milliseconds that a request waits for what has to be read first: metadata, balances',
    allowed: 'a whole number from 0 to 60000',
    example: '3000',
    default: '1500',
  }),
  BALANCE_MAX_AGE_MS: withDefault(wholeNumber(0, 3_600_000), {
    group: 'On demand',
    description:
      'Milliseconds that a balance is given again after it was read from a contract, of tokens whose transfers do not tell their balances',
    allowed: 'a whole number from 0 to 3600000',
    example: '10000',
    default: '60000',
  }),
  NATIVE_BALANCE_MAX_AGE_MS: withDefault(wholeNumber(0, 600_000), {
    group: 'On demand',
    description: "Milliseconds that a balance of a chain's own coin is given again after it was read from a node",
    allowed: 'a whole number from 0 to 600000',
    example: '5000',
    default: '15000',
  }),
  IPFS_GATEWAYS: withDefault(listOf(urlOf('http:', 'https:')), {
    group: 'On demand',
    description: 'Gateways for ipfs:// metadata, tried in order',
    allowed: 'a comma list of http(s) URLs',
    example: 'https://ipfs.example.com',
    default: 'https://ipfs.io,https://dweb.link',
    isUrl: true,
  }),
  ARWEAVE_GATEWAYS: withDefault(listOf(urlOf('http:', 'https:')), {
    group: 'On demand',
    description: 'Gateways for ar:// metadata, tried in order',
    allowed: 'a comma list of http(s) URLs',
    example: 'https://arweave.example.com',
    default: 'https://arweave.net',
    isUrl: true,
  }),
  ON_DEMAND_MAX_CALLS: withDefault(wholeNumber(0, 10_000_000), {
    group: 'On demand',
    description:
      'Node calls that the history of one wallet or collection may take where it reaches below the indexed range; one that is estimated to take more is refused. 0 turns such histories off',
    allowed: 'a whole number from 0 to 10000000',
    example: '50000',
    default: '10000',
  }),
  ON_DEMAND_COLLECTION_RATE: withDefault(wholeNumber(1, 10_000), {
    group: 'On demand',
    description:
      "Documents a second that are read at most, by chain, because somebody asked for a collection's traits or rarity",
    allowed: 'a whole number from 1 to 10000',
    example: '100',
    default: '20',
  }),
  ON_DEMAND_PER_KEY: withDefault(wholeNumber(1, 1_000_000), {
    group: 'On demand',
    description: 'Histories and collections that one API key may have waiting at once',
    allowed: 'a whole number from 1 to 1000000',
    example: '1000',
    default: '100',
  }),
};

const chainSelectionKeys = {
  CHAINS: optional(listOf(chainName), {
    group: 'Chains',
    description: 'Chains to index',
    allowed: 'a comma list of chain names in lower case, for instance eth, base, polygon, base-sepolia',
    example: 'eth,base',
    whenAbsent: 'no chain is indexed',
  }),
  DATASETS: optional(listOf(datasetByName), {
    group: 'Chains',
    description: 'What is kept of the chains; routes over what is left out answer empty and incomplete',
    allowed: `a comma list of ${DATASET_NAMES.join(', ')}`,
    example: 'erc20-transfers',
    whenAbsent: 'everything',
  }),
  TRANSACTION_INPUT: withDefault(oneOf('full', 'selector'), {
    group: 'Chains',
    description:
      'What is kept of the calldata of indexed transactions: all of it, or the first four bytes. The rest is then read from a node when it is asked for',
    allowed: 'full or selector',
    example: 'selector',
    default: 'full',
  }),
  PROVE_SENDERS: withDefault(oneOf('on', 'off'), {
    group: 'Proof',
    description:
      'Whether the senders of transactions are recovered from their signatures before they are indexed (on), or believed (off, faster). Answers say of which kind they are',
    allowed: 'on or off',
    example: 'off',
    default: 'on',
  }),
  POLL_INTERVAL_MS: optional(pollInterval, {
    group: 'Chains',
    description: 'Milliseconds between polls for a new head, on every chain, where no subscription announces it',
    allowed: 'a whole number from 10 to 3600000',
    example: '2000',
    whenAbsent: "each chain's own, about half its block time",
  }),
  PROOF: optional(proofPolicy, {
    group: 'Proof',
    description:
      'What to do on every chain with a block whose receipts root no upstream can reproduce: stop the chain (strict) or keep the block as unproven (record)',
    allowed: 'strict or record',
    example: 'record',
    whenAbsent: "each chain's own: strict where the encoding of receipts is known",
  }),
  BACKFILL_PROOF: withDefault(backfillProof, {
    group: 'Proof',
    description:
      'Whether history is served before it is proven (none) or only proven by whole receipts (receipts, slower)',
    allowed: 'none or receipts',
    example: 'receipts',
    default: 'none',
  }),
  PROVER_RATE: withDefault(proverRate, {
    group: 'Proof',
    description:
      'Blocks a second and chain that the background prover reads at most to prove history. auto: as many as the upstreams give without refusing more than one call in twenty or holding up the head (on public endpoints 5); 0 turns it off',
    allowed: 'auto, or a number from 0 to 100000',
    example: '50',
    default: 'auto',
  }),
};

/** Keys that are written as they are. */
export const globalKeys = z.object({
  ...processKeys,
  ...storageKeys,
  ...apiKeys,
  ...egressKeys,
  ...onDemandKeys,
  ...nameKeys,
  ...webhookKeys,
  ...gatewayKeys,
  ...chainSelectionKeys,
  ...aptosKeys,
});

export type GlobalSettings = z.output<typeof globalKeys>;

function splitOrigins(text: string): '*' | readonly string[] {
  return text === '*' ? '*' : text.split(',').map((origin) => origin.trim());
}
