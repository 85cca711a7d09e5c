/** Bodies that operations of what happened can't use, methods that they don't have, and paths that are none of them. */
import { invalidAddress, mustBe, type RefusalBody, required } from '../assets/refusals.ts';
import { BODY_BYTES_MAX, SERVER_BYTES_MAX, type TableRequest } from '../request-table.ts';
import { ACTIVITY_OPERATIONS, type ActivityOperation, EVENT, HASH, WALLET } from './activity-operations.ts';
import { refused, refusedBody, request } from './bad-request.ts';

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const broken = (parameter: string, given: unknown, rule: string): RefusalBody => ({
  message: `${parameter}: ${rule}`,
  details: { errors: [{ parameter, given }] },
});
const noEvent = (reason: string): RefusalBody => ({
  message: `body must be the ABI item of an event that is not anonymous, and it has ${reason}`,
  details: { errors: [{ parameter: 'body' }] },
});

const NO_NAME = noEvent('a name that is no identifier');
const NO_TYPE = noEvent('a type that no values are decoded of');
const NO_LIST = noEvent('arguments that are no list');

const BAD_EVENTS: readonly (readonly [about: string, sent: unknown, refusal: RefusalBody])[] = [
  ['nothing', '', NO_NAME],
  ['an empty object', {}, NO_NAME],
  ['a list', [], broken('body', [], 'must be an object')],
  ['a list of it', [EVENT], broken('body', `${JSON.stringify([EVENT]).slice(0, 120)}…`, 'must be an object')],
  ['null', 'null', broken('body', null, 'must be an object')],
  ['a number', '1', broken('body', 1, 'must be an object')],
  ['a text', '"x"', broken('body', 'x', 'must be an object')],
  ['an ABI', { abi: [EVENT] }, NO_NAME],
  ['an anonymous one', { ...EVENT, anonymous: true }, noEvent('an anonymous event')],
  ['a function', { ...EVENT, type: 'function' }, noEvent('a function, a constructor or an error')],
  ['a name that is no text', { ...EVENT, name: 5 }, NO_NAME],
  ['a name with a NUL', { ...EVENT, name: 'Trans\0fer' }, NO_NAME],
  ['a name of half a surrogate pair', { ...EVENT, name: '\ud800' }, NO_NAME],
  ['a name of very many characters', { ...EVENT, name: 'x'.repeat(257) }, NO_NAME],
  ['members of a prototype', '{"__proto__":{"type":"event","name":"A"}}', NO_NAME],
  ['arguments that are a text', { ...EVENT, inputs: 'address' }, NO_LIST],
  ['an argument that is null', { ...EVENT, inputs: [null] }, NO_TYPE],
  ['a type that does not exist', { ...EVENT, inputs: [{ type: 'uint7' }] }, NO_TYPE],
  ['a tuple without members', { ...EVENT, inputs: [{ type: 'tuple' }] }, NO_LIST],
  [
    'very many arguments',
    { ...EVENT, inputs: Array.from({ length: 257 }, () => ({ type: 'bool' })) },
    noEvent('more than 256 arguments'),
  ],
];

const REVIEW = { contract_address: WALLET, reason: 'r', report_type: 'spam', contract_type: 'NFT' };

/** Values of members of a review that can't be, with what is allowed. */
const WRONG_MEMBERS: readonly (readonly [member: keyof typeof REVIEW, given: string, allowed: string])[] = [
  ['report_type', 'Spam', 'spam or not_spam'],
  ['contract_type', 'erc20', 'ERC20 or NFT'],
  ['reason', ' \n', 'a text of 1 to 1000 characters'],
];

const BAD_REVIEWS: readonly (readonly [about: string, sent: unknown, refusal: RefusalBody])[] = [
  ['nothing', '', { message: 'contracts is required', details: { errors: [{ parameter: 'contracts' }] } }],
  ['none', { contracts: [] }, broken('contracts', [], 'at least 1 item')],
  [
    'too many',
    { contracts: Array.from({ length: 26 }, () => ({})) },
    broken(
      'contracts',
      Array.from({ length: 26 }, () => ({})),
      'at most 25 items',
    ),
  ],
  ['null', 'null', broken('body', null, 'must be an object')],
  ['a list', [], broken('body', [], 'must be an object')],
  ['a text', '"x"', broken('body', 'x', 'must be an object')],
  ['a text of them', { contracts: 'x' }, broken('contracts', 'x', 'must be a list')],
  ['null for them', { contracts: null }, broken('contracts', null, 'must be a list')],
  ['null for one', { contracts: [null] }, broken('contracts.0', null, 'must be an object')],
  ['a text for one', { contracts: ['x'] }, broken('contracts.0', 'x', 'must be an object')],
  ...Object.keys(REVIEW).map(
    (member) =>
      [
        `no ${member}`,
        { contracts: [REVIEW, { ...REVIEW, [member]: undefined }] },
        required(`contracts.1.${member}`),
      ] as const,
  ),
  ...WRONG_MEMBERS.map(
    ([member, given, allowed]) =>
      [
        `${member} ${given}`,
        { contracts: [{ ...REVIEW, [member]: given }] },
        mustBe(`contracts.0.${member}`, given, allowed),
      ] as const,
  ),
  [
    'no address',
    { contracts: [{ ...REVIEW, contract_address: '0x12' }] },
    invalidAddress('contracts.0.contract_address', '0x12'),
  ],
  [
    'what is no text',
    { contracts: [{ contract_address: 5, reason: ['x'], report_type: null, contract_type: {} }] },
    {
      message:
        'contracts.0.contract_address: must be a text, contracts.0.reason: must be a text, contracts.0.report_type: must be a text, contracts.0.contract_type: must be a text',
      details: {
        errors: [
          { parameter: 'contracts.0.contract_address', given: 5 },
          { parameter: 'contracts.0.reason', given: ['x'] },
          { parameter: 'contracts.0.report_type', given: null },
          { parameter: 'contracts.0.contract_type', given: {} },
        ],
      },
    },
  ],
];

/** Bodies that are none, of each operation that takes one. */
function ofBody(operation: ActivityOperation): readonly TableRequest[] {
  const bytesMax = operation.name === 'runContractFunction' ? SERVER_BYTES_MAX : BODY_BYTES_MAX;
  const tooLarge = {
    message: `Request body is larger than ${bytesMax} bytes`,
    details: { limit_bytes: bytesMax },
  };
  return [
    refusedBody(operation.name, '{', { message: 'Malformed JSON in request body' }),
    refusedBody(operation.name, '\0', { message: 'Malformed JSON in request body' }, 'a NUL'),
    ...['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/jsonx'].map(
      (contentType) =>
        request(operation, { contentType, about: contentType }, 415, { message: 'Unsupported Media Type' }),
    ),
    request(operation, { sent: `"${'x'.repeat(bytesMax)}"`, about: 'a very long text' }, 413, tooLarge),
  ];
}

/** Another method than it has. */
function ofMethod(operation: ActivityOperation): TableRequest {
  const { path, method, ...requested } = request(operation, {}, 405, {});
  const [plain = path] = path.split('?', 1);
  const allowed = method === 'GET' ? ['GET', 'HEAD'] : [method];
  const message = `Method DELETE is not allowed on /api/v2.2${plain}: use ${allowed.join(', ')}`;
  return {
    ...{ operation: requested.operation, method: 'DELETE', path: plain, status: 405 },
    body: { message, details: { method: 'DELETE', allowed } },
  };
}

/** Segments that begin without `0x` are no wallets: they may be misspelt operations. */
const UNKNOWN_PATHS = ['null', 'undefined', 'vitalik.eth', 'a'.repeat(300)].flatMap((segment): TableRequest[] => [
  ...[`/${segment}`].map((path) => notFound('getWalletTransactions', path)),
  ...[`/${segment}/verbose`].map((path) => notFound('getWalletTransactionsVerbose', path)),
]);

function notFound(operation: string, path: string): TableRequest {
  // So much of a path is repeated.
  const reported = `/api/v2.2${path}`.slice(0, 120);
  return { operation, method: 'GET', path, status: 404, body: { message: `No route for GET ${reported}` } };
}

export const BAD_ACTIVITY_BODIES: readonly TableRequest[] = [
  ...BAD_EVENTS.map(([about, sent, refusal]) => refusedBody('getContractEvents', sent, refusal, about)),
  refused(
    'getContractEvents',
    { query: `topic=${HASH}` },
    mustBe('topic', HASH, `the hash of Transfer(address,address,uint256) (${TRANSFER})`),
  ),
  ...BAD_REVIEWS.map(([about, sent, refusal]) => refusedBody('reviewContracts', sent, refusal, about)),
  ...ACTIVITY_OPERATIONS.filter(({ body }) => body !== undefined).flatMap(ofBody),
  ...ACTIVITY_OPERATIONS.map(ofMethod),
  ...UNKNOWN_PATHS,
];
