import { ChainsteadError } from '@chainstead/core';
import { DatabaseUnavailableError } from '@chainstead/db';
import { ApiError } from '@chainstead/http';
import { ValidationFailedError } from '@chainstead/streams';

/** An error in a field. */
export interface FieldProblem {
  /** The form's field; null: it concerns no field. */
  readonly field: string | null;
  readonly message: string;
}

/** The fields that contain configuration members without their own field. */
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
  'contracts',
  'abi',
  'advancedOptions',
  'triggers',
  'getNativeBalances',
]);
/** Fields of error codes that concern one field. */
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

/** Returns an error's problems with the form's fields; null: the form is not the cause. */
export function problemsOf(error: unknown): readonly FieldProblem[] | null {
  if (error instanceof ValidationFailedError) return error.problems.map(({ path, message }) => placed(path, message));
  if (!(error instanceof ApiError) || error.status === NOT_FOUND || error.status >= SERVER_ERROR) return null;
  if (error.code === 'STREAM_ADDRESS_INVALID') return [{ field: 'addresses', message: addressText(error) }];
  return [{ field: BY_CODE[error.code] ?? null, message: error.message }];
}

/** Returns the node problem that prevents a preview, in words; null: another cause. */
export function nodeProblemOf(error: unknown): FieldProblem | null {
  if (!(error instanceof ChainsteadError) || error instanceof ApiError) return null;
  if (error instanceof DatabaseUnavailableError) return null;
  return {
    field: null,
    message: `The blocks could not be read from the chain's nodes: ${error.message}. Try again later, or check the nodes on the page of the chain`,
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

/** Lists the lines that are not addresses. */
function addressText({ message, details = {} }: ApiError): string {
  const bad = Object.values(details).flatMap((one) =>
    typeof one === 'object' && one !== null && 'value' in one ? [String(one.value)] : [],
  );
  return bad.length === 0 ? message : `are not addresses (0x and 40 hexadecimal digits): ${bad.join(', ')}`;
}
