import { mapOperations, mapValues } from '../../map-values.ts';
import { type OpenApiDocument, openApiShape, type Schema, type Schemas } from '../reference/openapi-shape.ts';
import { ASSET_FIELDS } from './asset-fields.ts';
import { CHAIN_FIELDS } from './chain-fields.ts';

const WALLET_FIELDS: Readonly<Record<string, string>> = {
  activeChains: 'Number of chains with activity.',
  activeDays: 'Number of UTC days with activity.',
  active_chains: 'Chains with activity.',
  addressType: 'Always evm.',
  approvals: 'Approvals granted in the transaction.',
  revokes: 'Approvals revoked in the transaction.',
  set_approvals_all: 'Approvals for all NFTs of a contract granted in the transaction.',
  set_revokes_all: 'Approvals for all NFTs of a contract revoked in the transaction.',
  category: 'Kind of the transaction.',
  chainBreakdown: 'The same numbers by chain.',
  complete: 'true if no block of the requested range is missing.',
  contractsCreated: 'Number of contracts created.',
  direction: 'Direction as seen from the wallet.',
  erc20Transfers: 'ERC-20 transfers of the wallet.',
  erc20_transfers: 'ERC-20 transfers of the transaction.',
  firstActivityAt: 'First activity. null if there is none.',
  firstInitiatedAt: 'First transaction sent by the wallet. null if there is none.',
  kind: 'deposit or withdraw.',
  lastActivityAt: 'Newest activity. null if there is none.',
  lastInitiatedAt: 'Newest transaction sent by the wallet. null if there is none.',
  mostActiveChain: 'Chain with the most active days, hexadecimal id. null if there is none.',
  nativeTransfers: 'Transfers of the native token.',
  native_transfers: 'Native token transfers of the transaction.',
  nftTransfers: 'NFT transfers of the wallet.',
  received: 'Number received.',
  receivedFrom: 'Number of different senders to the wallet.',
  sent: 'Number sent.',
  sentTo: 'Number of different recipients from the wallet.',
  swapVolumeUsd:
    'Sum of the values of the swaps of the wallet, as sender or beneficiary. Null if swaps are not indexed, or a value is unknown.',
  transaction_type: 'Single, or Batch for several NFTs of one TransferBatch event.',
  transactionsInitiated: 'Number of transactions sent by the wallet.',
  transactionsInvolved: 'Number of transactions that involve the wallet.',
  'WalletActivity.type': 'Kind of the activity.',
  uniqueCounterparties: 'Number of different addresses that the wallet exchanged with.',
  uniqueTokensInteracted: 'Number of different tokens sent or received.',
  vault_address: 'Address of the ERC-4626 vault.',
  walletAgeDays: 'Whole days since the first activity.',

  'AptosCoinTransfer.amount': 'Amount in base units. Decimal string.',
  'AptosCoinBalance.amount': 'Balance in base units. Decimal string.',
  'AptosHistoricalCoinBalance.amount': 'Balance after the transaction in base units. Decimal string.',
  'AptosCoin.name': 'Name of the coin.',
  'AptosCoin.symbol': 'Symbol of the coin.',
  activity_type: 'Type of the Move event.',
  block_height: 'Height of the block. Decimal string.',
  coin_type: 'Move type of the coin.',
  coin_type_hash: 'SHA-256 hash of the Move type.',
  creator_address: 'Address of the creator.',
  entry_function_id_str: 'Entry function of the transaction. null if there is none.',
  event_account_address: 'Address of the account of the event.',
  event_creation_number: 'Creation number of the event handle. Decimal string.',
  event_sequence_number: 'Sequence number of the event. Decimal string.',
  from_version: 'First indexed ledger version, decimal string. null if none is indexed.',
  hasNextPage: 'true if there is another page.',
  is_gas_fee: 'true if the row is the gas fee of the transaction.',
  is_transaction_success: 'true if the transaction succeeded.',
  last_transaction_timestamp: 'Time of the newest change. ISO 8601, UTC.',
  last_transaction_version: 'Ledger version of the newest change. Decimal string.',
  statusCode: 'HTTP status.',
  supply_aggregator_table_handle: 'Handle of the aggregator table of the supply. null if there is none.',
  supply_aggregator_table_key: 'Key in the aggregator table of the supply. null if there is none.',
  to_version: 'Last indexed ledger version, decimal string. null if none is indexed.',
  transaction_created_timestamp: 'Time of the creation. ISO 8601, UTC.',
  transaction_timestamp: 'Time of the transaction. ISO 8601, UTC.',
  transaction_version: 'Ledger version of the transaction. Decimal string.',
  transaction_version_created: 'Ledger version of the creation. Decimal string.',
};

const STREAM_FIELDS: Readonly<Record<string, string>> = {
  addresses: 'Addresses: 0x and 40 hexadecimal digits each.',
  advancedOptions: 'Filters by event.',
  allAddresses: 'true matches all addresses instead of those of the stream.',
  blockFrom: 'First block of the job.',
  blockTo: 'Last block of the job.',
  callFrom: 'Sender address of the call.',
  chainIds: 'Chain ids, hexadecimal with 0x.',
  contractAddress: 'Contract to call. `$name` refers to a member of the matched record.',
  createdAt: 'Time of the creation. ISO 8601, UTC.',
  deliveryStatus: 'Result of the attempt.',
  demo: 'Stored and returned, without effect.',
  'CreateStream.description': 'Description of the stream.',
  'UpdateStream.description': 'Description of the stream.',
  errorMessage: 'Error in words. Empty or absent if there was none.',
  filter: 'Condition that a record must meet.',
  filterPossibleSpamAddresses: 'true omits transfers of tokens that are marked as spam.',
  fromTimestamp: 'Start of the job in Unix seconds.',
  functionAbi: 'ABI of the function to call.',
  getNativeBalances: 'Adds native balances to webhooks.',
  id: 'Id (UUID).',
  includeAllTxLogs: 'true adds all logs of each matched transaction.',
  includeContractLogs: 'true matches event logs.',
  includeInternalTxs: 'true matches internal transactions.',
  includeNativeTxs: 'true matches native token transfers.',
  region: 'Region, sent as the header `x-region`. Has no other effect.',
  retries: 'Number of attempts before this one.',
  secretKey: 'Secret that signs the webhooks.',
  selectors: 'Addresses to read. `$name` refers to a member of the matched record.',
  sendRemoved: 'true also sends webhooks for blocks removed by a reorg.',
  'UpdateStreamStatus.status': 'New status: active or paused.',
  'Stream.contracts': 'Contracts of the operator, or events of them, whose logs match.',
  'Stream.status': 'Status of the stream.',
  'HistoricalJob.status': 'Status of the job.',
  'StreamAddresses.address': 'Added or removed addresses.',
  'AddAddressToStream.address': 'One address or a list.',
  'ReplaceAddressFromStream.address': 'One address or a list: the new addresses of the stream.',
  'DeleteAddressFromStream.address': 'One address or a list.',
  statusMessage: 'Reason of the status.',
  streamId: 'Stream id (UUID).',
  streams: 'The same numbers by stream.',
  tag: 'Tag of the stream, repeated in each webhook.',
  tinyPayload: 'Summary of the webhook.',
  toTimestamp: 'End of the job in Unix seconds.',
  'CreateStream.topic0': 'Event signatures to match, such as Transfer(address,address,uint256).',
  'UpdateStream.topic0': 'Event signatures to match, such as Transfer(address,address,uint256).',
  'Stream.topic0': 'Event signatures to match, such as Transfer(address,address,uint256).',
  'GetStreamBlockDataByNumber.topic0': 'Event signatures to match, such as Transfer(address,address,uint256).',
  'AdvancedOption.topic0': 'Event signature, such as Transfer(address,address,uint256).',
  'StreamTrigger.topic0': 'Event signature, such as Transfer(address,address,uint256).',
  'advancedOptions.topic0': 'Event signature, such as Transfer(address,address,uint256).',
  'triggers.topic0': 'Event signature, such as Transfer(address,address,uint256).',
  totalBlocks: 'Number of blocks of the job.',
  totalJobs: 'Number of parts of the job.',
  totalPartitions: 'Number of parts of the job.',
  triggers: 'Contract functions to call for each record.',
  'StreamTrigger.type': 'Records that the call applies to.',
  'NativeBalanceSelector.type': 'Records that the balances are read for.',
  updatedAt: 'Time of the newest change. ISO 8601, UTC.',
  webhookUrl: 'URL that receives the webhooks.',
};

/** `Outer.name` takes precedence. Outer: a component, an operation id, or the containing field. */
const FIELD_DESCRIPTIONS: Readonly<Record<string, string>> = {
  ...CHAIN_FIELDS,
  ...ASSET_FIELDS,
  ...WALLET_FIELDS,
  ...STREAM_FIELDS,
};

export function withDescriptions(document: object): OpenApiDocument {
  const { paths, components, ...rest } = openApiShape.parse(document);
  const schemas = components?.schemas ?? {};
  return {
    ...rest,
    paths: mapOperations(paths, (operation) => describedOperation(operation, schemas)),
    components: {
      ...components,
      schemas: mapValues(schemas, (schema, name) => describedSchema(schema, { outer: [name], schemas })),
    },
  };
}

type Operation = OpenApiDocument['paths'][string][string];
type Content = NonNullable<Operation['responses'][string]['content']>;

function describedOperation(operation: Operation, schemas: Schemas): Operation {
  const id = operation.operationId ?? '';
  const place = { outer: [id], schemas };
  const { parameters, requestBody, responses } = operation;
  return {
    ...operation,
    ...(parameters !== undefined && {
      parameters: parameters.map((parameter) => {
        const description = parameter.description ?? textOf(PARAMETER_DESCRIPTIONS, parameter.name, [id]);
        return description === undefined ? parameter : { ...parameter, description };
      }),
    }),
    ...(requestBody !== undefined && {
      requestBody: { ...requestBody, content: describedContent(requestBody.content, place) },
    }),
    responses: mapValues(responses, (response) =>
      response.content === undefined
        ? response
        : { ...response, content: describedContent(response.content, place) },
    ),
  };
}

interface Place {
  readonly outer: readonly string[];
  readonly schemas: Schemas;
}

function describedContent(content: Content, place: Place): Content {
  return mapValues(content, (body) =>
    body.schema === undefined ? body : { ...body, schema: describedSchema(body.schema, place) },
  );
}

function describedSchema(schema: Schema, place: Place): Schema {
  const inside = (part: Schema): Schema => describedSchema(part, place);
  const { properties, items, additionalProperties, allOf, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: mapValues(properties, (field, name) => describedField(name, field, place)),
    }),
    ...(items !== undefined && { items: inside(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inside(additionalProperties) }),
    ...(allOf !== undefined && { allOf: allOf.map(inside) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(inside) }),
    ...(oneOf !== undefined && { oneOf: oneOf.map(inside) }),
  };
}

function describedField(name: string, field: Schema, { outer, schemas }: Place): Schema {
  const inside = describedSchema(field, { outer: [name, ...outer], schemas });
  const component = field.$ref === undefined ? undefined : schemas[field.$ref.split('/').at(-1) ?? ''];
  if (field.description !== undefined || component?.description !== undefined) return inside;
  const description = textOf(FIELD_DESCRIPTIONS, name, outer);
  return description === undefined ? inside : { ...inside, description };
}

function textOf(
  texts: Readonly<Record<string, string>>,
  name: string,
  outer: readonly string[],
): string | undefined {
  const scope = outer.find((outerName) => Object.hasOwn(texts, `${outerName}.${name}`));
  if (scope !== undefined) return texts[`${scope}.${name}`];
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

const PARAMETER_DESCRIPTIONS: Readonly<Record<string, string>> = {
  address: 'Address of the wallet or contract in the path: 0x and 40 hexadecimal digits.',
  apiKey: 'API key.',
  blockNumber: 'Block number, decimal.',
  chain: 'Chain by name (eth, base, …), hexadecimal or decimal id.',
  chainId: 'Chain id, hexadecimal with 0x.',
  deliveryStatus: 'Returns only attempts with this result. Can be repeated.',
  domain: 'Name to resolve, such as vitalik.eth.',
  'GetLogs.blockNumber': 'Returns only attempts of these blocks. Can be repeated.',
  'GetHistory.blockNumber': 'Returns only webhooks of these blocks. Can be repeated.',
  id: 'Stream id (UUID).',
  'ReplayHistory.id': 'Id of the failed webhook (UUID), from `/history`.',
  interval: 'Length of the requested period.',
  limit: 'Rows per page.',
  marketplace: 'Returns only trades of this marketplace. `all` returns trades of all marketplaces.',
  status: 'Returns only streams with this status.',
  streamId: 'Stream id (UUID).',
  token_address: 'Address of the token contract: 0x and 40 hexadecimal digits.',
  tokenAddress: 'Address of the token contract: 0x and 40 hexadecimal digits.',
  transaction_hash: 'Transaction hash: 0x and 64 hexadecimal digits.',
  transactionHash: 'Returns only webhooks that contain this transaction: 0x and 64 hexadecimal digits.',
};
