import { ChainsteadError } from '@chainstead/core';
import { DatabaseUnavailableError } from '@chainstead/db';
import { ApiError } from '@chainstead/http';
import { ValidationFailedError } from '@chainstead/streams';

/** What is wrong with a field. */
export interface FieldProblem {
  /** Of the form; null: it is of no field. */
  readonly field: string | null;
  readonly message: string;
}

/** Where the members of a configuration are in the form that are not fields by themselves. */
const BOXES: ReadonlySet<string> = new Set([
  'allAddresses',
  'includeNativeTxs',
  'includeContractLogs',
  'includeInternalTxs',
  'includeAllTxLogs',
  'filterPossibleSpamAddresses',
  'demo',
  'sendRemoved',
]);
const FIELDS: ReadonlySet<string> = new Set([
  'webhookUrl',
  'description',
  'tag',
  'chainIds',
  'topic0',
  'abi',
  'advancedOptions',
  'triggers',
  'getNativeBalances',
]);
/** What is about one field, by the error's code. */
const BY_CODE: Readonly<Record<string, string>> = {
  STREAM_IDENTICAL: 'description',
  WEBHOOK_TEST_FAILED: 'webhookUrl',
  WEBHOOK_TESTS_LIMITED: 'webhookUrl',
  STREAM_CHAIN_MISMATCH: 'chain',
  PREVIEW_TOO_LONG: 'to',
  STREAM_ADDRESSES_LIMITED: 'addresses',
  KEY_ADDRESSES_LIMITED: 'addresses',
};
const NOT_FOUND = 404;
const SERVER_ERROR = 500;

/** What an error says of the form's fields; null: it is no fault of the form. */
export function problemsOf(error: unknown): readonly FieldProblem[] | null {
  if (error instanceof ValidationFailedError) return error.problems.map(({ path, message }) => placed(path, message));
  if (!(error instanceof ApiError) || error.status === NOT_FOUND || error.status >= SERVER_ERROR) return null;
  if (error.code === 'STREAM_ADDRESS_INVALID') return [{ field: 'addresses', message: addressText(error) }];
  return [{ field: BY_CODE[error.code] ?? null, message: error.message }];
}

/** What keeps a preview from reading blocks, in words; null: it is something else. */
export function nodeProblemOf(error: unknown): FieldProblem | null {
  if (!(error instanceof ChainsteadError) || error instanceof ApiError) return null;
  if (error instanceof DatabaseUnavailableError) return null;
  return {
    field: null,
    message: `The blocks could not be read from the chain's nodes: ${error.message}. Try again later, or look at the nodes on the chain's page`,
  };
}

function placed(path: string, message: string): FieldProblem {
  const [member = '', ...rest] = path.split('.');
  if (BOXES.has(member)) return { field: 'switches', message: `${member}: ${message}` };
  const where = rest.length === 0 ? '' : `${rest.join('.')}: `;
  return FIELDS.has(member)
    ? { field: member, message: where + message }
    : { field: null, message: path === '' ? message : `${path}: ${message}` };
}

/** Which of the lines are no addresses. */
function addressText({ message, details = {} }: ApiError): string {
  const bad = Object.values(details).flatMap((one) =>
    typeof one === 'object' && one !== null && 'value' in one ? [String(one.value)] : [],
  );
  return bad.length === 0 ? message : `are not addresses (0x and 40 hexadecimal digits): ${bad.join(', ')}`;
}
