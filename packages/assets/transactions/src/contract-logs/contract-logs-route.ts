import type { Chain } from '@chainstead/chains';
import { type Hash, parseHash } from '@chainstead/core';
import { type AbiBook, bookOf, type DecodedEvent, decodeEvent, readAbiItem } from '@chainstead/events/decoding';
import {
  type ApiDependencies,
  addressParameter,
  blockParameter,
  defineApiError,
  InvalidParameterError,
  type RouteModule,
  routesFor,
  textParameter,
  view,
  wire,
  withServices,
} from '@chainstead/http';
import { LOG_ORDER, type PageBlock } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import { z } from '@hono/zod-openapi';
import { BY_TOPIC, type ContractLog, type ContractLogsQuery, contractLogsPage } from './contract-logs-page.ts';
import { logs } from './dataset.ts';

interface ContractLogsServices {
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestEmitter'>;
}

export function contractLogsRoutes(services: ContractLogsServices): readonly RouteModule[] {
  return [withServices(services, [contractLogsRoute, contractEventsRoute])];
}

const { defineListRoute } = routesFor<ContractLogsServices>();

const contractParameter = {
  address: addressParameter('Invalid address provided').openapi({ description: 'The contract address' }),
};

function topicParameter(description: string) {
  const parse = (text: string) => (/^0x[0-9a-f]{64}$/i.test(text) ? parseHash(text) : undefined);
  return textParameter('a topic (0x and 64 hexadecimal digits)', parse)
    .optional()
    .openapi({ type: 'string', pattern: '^0x[0-9a-fA-F]{64}$', description });
}

const { address, count, digits, hash, moment, text } = wire;

/** What logs and decoded events show of their place. */
const contractPlace = {
  transaction_hash: hash(({ log }: LogOfContract) => log.transaction_hash),
  address: address(({ contract }: LogOfContract) => contract),
  block_timestamp: moment(
    { example: '2021-05-07T11:08:35.000Z' },
    ({ block }: LogOfContract) => block.block_timestamp,
  ),
  block_number: digits({ example: '12386788' }, ({ block }: LogOfContract) => String(block.block_number)),
  block_hash: hash(({ block }: LogOfContract) => block.block_hash),
};

interface LogOfContract extends Pick<ContractLogsQuery, 'contract'> {
  readonly log: ContractLog;
  readonly block: PageBlock;
}

const logView = view('ContractLog', (log: LogOfContract) => log, {
  ...contractPlace,
  data: text({ pattern: '^0x[0-9a-f]*$' }, ({ log }) => `0x${log.data}`),
  topic0: hash.orNull(({ log }) => log.topic0),
  topic1: hash.orNull(({ log }) => log.topic1),
  topic2: hash.orNull(({ log }) => log.topic2),
  topic3: hash.orNull(({ log }) => log.topic3),
  transaction_index: count(({ log }) => log.transaction_index),
  log_index: count(({ log }) => log.log_index),
});

/** docs/api/transactions.md#contract-logs */
const contractLogsRoute = defineListRoute({
  path: '/api/v2.2/{address}/logs',
  operationId: 'getContractLogs',
  tag: 'Contracts',
  summary: 'List logs of a contract',
  description:
    'All logs emitted by a contract, by block number, newest first by default. If they are not all indexed, the request starts reading them from a node: `indexed` reports the progress, and later requests return more.',
  params: [contractParameter],
  query: [
    'chain',
    { block_number: blockParameter('Returns only this block, regardless of the range.') },
    'blockBounds',
    {
      topic0: topicParameter('Hash of the event signature.'),
      topic1: topicParameter('First indexed argument of the event.'),
      topic2: topicParameter('Second indexed argument of the event.'),
      topic3: topicParameter('Third indexed argument of the event.'),
    },
    'limit',
    'order',
  ],
  name: 'ContractLogs',
  response: 'A page of logs',
  datasets: [logs.name],
  indexes: [BY_TOPIC],
  needsIndexes: ({ topic0 }) => topic0 !== undefined,
  bounds: ({ block_number: block, ...values }) =>
    block === undefined ? values : { from_block: block, to_block: block },
  position: LOG_ORDER.position,
  firstPage: 1,
  read: ({ address: contract, topic0, topic1, topic2, topic3, query, ...request }) =>
    readContractLogs(request, { ...query, contract, topics: [topic0, topic1, topic2, topic3], offset: 0 }),
  view: logView,
  row: (log, { blockOf, contract }) => [{ log, block: blockOf(log), contract }],
});

interface LogsRequest extends Pick<ApiDependencies, 'database' | 'reads' | 'logger'> {
  readonly services: ContractLogsServices;
  readonly chain: Chain;
  readonly requester: string;
}

/** @throws LogsNotIndexedError (400) if none are indexed and requests may cause no calls */
async function readContractLogs(request: LogsRequest, query: ContractLogsQuery) {
  const { reads, services, chain, requester } = request;
  const { contract } = query;
  const list = await contractLogsPage(chain, query).read(reads);
  if (list.indexed.complete) return { ...list, contract };
  const outcome = await services.onDemandBackfill.requestEmitter(request, chain, contract, requester);
  if (outcome === 'off' && chain.logs === 'off' && list.indexed.fromBlock === null)
    throw new LogsNotIndexedError(chain);
  return { ...list, contract };
}

/** None of the contract's logs are indexed, and requests may not read them from a node. */
class LogsNotIndexedError extends defineApiError('LOGS_NOT_INDEXED', ({ key }: Pick<Chain, 'key'>) => ({
  status: 400,
  message: `logs of ${key} are not indexed, and ON_DEMAND_MAX_CALLS=0 prevents requests from reading them from a node`,
  details: { reason: 'not-indexed', configuration_key: 'ON_DEMAND_MAX_CALLS' },
})) {}

const OFFSET_MAX = 10_000;

const offsetParameter = textParameter(`a whole number from 0 to ${OFFSET_MAX}`, (given) =>
  /^\d{1,5}$/.test(given) && Number(given) <= OFFSET_MAX ? Number(given) : undefined,
)
  .default(0)
  .openapi({
    type: 'integer',
    minimum: 0,
    maximum: OFFSET_MAX,
    description: 'Number of events to skip before the first page.',
  });

const eventItemSchema = z.record(z.string(), z.unknown()).openapi({
  example: {
    anonymous: false,
    name: 'Transfer',
    type: 'event',
    inputs: [
      { indexed: true, name: 'from', type: 'address' },
      { indexed: true, name: 'to', type: 'address' },
      { indexed: false, name: 'value', type: 'uint256' },
    ],
  },
  description: 'The ABI item of the event',
});

const eventView = view('ContractEvent', (event: LogOfContract & { readonly decoded: DecodedEvent }) => event, {
  ...contractPlace,
  data: wire.wire(z.record(z.string(), z.string()))(
    {
      example: { from: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', value: '1000000000000000000' },
      description: 'By parameter. Addresses with EIP-55 checksum, integers in decimal, arrays and tuples as JSON',
    },
    ({ decoded }) => valuesOf(decoded),
  ),
});

/** docs/api/transactions.md#contract-events */
const contractEventsRoute = defineListRoute({
  path: '/api/v2.2/{address}/events',
  operationId: 'getContractEvents',
  tag: 'Contracts',
  summary: 'List decoded events of a contract',
  description:
    'Logs of one event, decoded with the ABI item in the body, by block number, newest first by default. Completeness and limits are the same as for `/{address}/logs`.',
  params: [contractParameter],
  query: [
    'chain',
    'blockBounds',
    {
      topic: topicParameter('Hash of the event signature. Default: computed from the ABI item in the body.'),
      offset: offsetParameter,
    },
    'limit',
    'order',
  ],
  body: eventItemSchema,
  binds: (body) => ({ topic0: readEventItem(body).topic0 }),
  errors: [413],
  name: 'ContractEvents',
  response: 'A page of events',
  datasets: [logs.name],
  indexes: [BY_TOPIC],
  position: LOG_ORDER.position,
  firstPage: 0,
  async read({ address: contract, topic, offset, body, query, ...request }) {
    const event = readEventItem(body, topic);
    const list = await readContractLogs(request, { ...query, contract, topics: [event.topic0], offset });
    const rows = list.rows.flatMap((log) => {
      const decoded = decodeAs(event, log);
      return decoded === null ? [] : [{ log, block: list.blockOf(log), contract, decoded }];
    });
    return { ...list, rows, skipped: list.rows.length - rows.length };
  },
  view: eventView,
  row: (event) => [event],
  fields: ({ result, ...standard }) => ({
    ...standard,
    skipped: count(
      'Number of logs on this page that the ABI item does not decode',
      ({ found: { skipped } }) => skipped,
    ),
    result,
  }),
});

interface EventItem {
  readonly signature: string;
  readonly topic0: Hash;
  readonly book: AbiBook;
}

/** `topic`: given by the client. @throws InvalidParameterError for other items or another topic */
function readEventItem(given: Readonly<Record<string, unknown>>, topic?: string): EventItem {
  const read = readAbiItem({ ...given, type: given.type ?? 'event' });
  if (read === null || typeof read === 'string' || read.kind !== 'event') {
    const reason = typeof read === 'string' ? read : 'a function, a constructor or an error';
    throw new InvalidParameterError({
      parameter: 'body',
      message: `body must be the ABI item of an event that is not anonymous, and it has ${reason}`,
    });
  }
  const { signature, topic0 } = read.entry;
  if (topic !== undefined && topic !== topic0)
    throw new InvalidParameterError({
      parameter: 'topic',
      given: topic,
      allowed: `the hash of ${signature} (${topic0})`,
    });
  return { signature, topic0, book: bookOf('contract', { functions: [], events: [read.entry] }) };
}

function decodeAs({ book }: EventItem, log: ContractLog): DecodedEvent | null {
  const topics = [log.topic0, log.topic1, log.topic2, log.topic3].flatMap((topic) => topic ?? []);
  return decodeEvent({ topics, data: `0x${log.data}` }, [book]);
}

function valuesOf({ params }: DecodedEvent): Readonly<Record<string, string>> {
  return Object.fromEntries(params.map(({ name, value }, place) => [name === '' ? String(place) : name, value]));
}
