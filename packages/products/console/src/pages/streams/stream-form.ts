import {
  ChainsteadError,
  errorText,
  isObject,
  JSON_DEPTH_MAX,
  JsonBoundsError,
  parseBoundedJson,
  toQuantity,
} from '@chainstead/core';
import { DatabaseUnavailableError } from '@chainstead/db';
import { ApiError } from '@chainstead/http';
import {
  type EventTopic,
  type GivenStream,
  readAbiEvents,
  type Stream,
  ValidationFailedError,
} from '@chainstead/streams';
import { z } from 'zod';
import { linesOf } from './change-streams.ts';
import { isUuid } from './stream-list-view.ts';

export const SWITCHES = [
  'includeContractLogs',
  'includeNativeTxs',
  'includeInternalTxs',
  'includeAllTxLogs',
  'allAddresses',
  'filterPossibleSpamAddresses',
  'sendRemoved',
  'demo',
] as const satisfies readonly (keyof Stream)[];

const JSON_BOUNDS = { depthMax: JSON_DEPTH_MAX, valuesMax: 40_000 };
const text = z.string().default('');
const boxes = z
  .union([z.string(), z.array(z.string())])
  .default([])
  .transform((ticked) => [ticked].flat());

export const streamForm = z.object({
  stream: z.string().refine((id) => id === '' || isUuid(id), 'is not an id'),
  webhookUrl: text,
  description: text,
  tag: text,
  chainIds: boxes,
  switches: boxes,
  abi: text,
  events: boxes,
  topic0: text,
  contracts: text,
  advancedOptions: text,
  triggers: text,
  getNativeBalances: text,
  addresses: text,
  chain: text,
  from: text,
  to: text,
});

export type StreamForm = z.infer<typeof streamForm>;

export function emptyForm(): StreamForm {
  return streamForm.parse({ stream: '', switches: ['includeContractLogs'] });
}

export function formOf(stream: Stream): StreamForm {
  return {
    ...emptyForm(),
    stream: stream.id,
    webhookUrl: stream.webhookUrl,
    description: stream.description,
    tag: stream.tag,
    chainIds: stream.chainIds.map(toQuantity),
    switches: SWITCHES.filter((name) => stream[name]),
    abi: jsonOf(stream.abi),
    topic0: (stream.topic0 ?? []).join('\n'),
    contracts: (stream.contracts ?? []).join('\n'),
    advancedOptions: jsonOf(stream.advancedOptions),
    triggers: jsonOf(stream.triggers),
    getNativeBalances: jsonOf(stream.getNativeBalances),
    chain: toQuantity(stream.chainIds[0] ?? 0),
  };
}

export interface ReadForm {
  readonly given: GivenStream;
  readonly problems: readonly FieldProblem[];
  /** As far as parsed. `given`: its topic0; null: none. */
  readonly events: readonly (EventTopic & { readonly given: string | null })[];
  readonly otherTopics: readonly string[];
}

export function readForm(form: StreamForm): ReadForm {
  const problems: FieldProblem[] = [];
  const json = (field: 'abi' | 'advancedOptions' | 'triggers' | 'getNativeBalances'): unknown => {
    const written = form[field].trim();
    if (written === '') return null;
    try {
      return parseBoundedJson(written, JSON_BOUNDS);
    } catch (error) {
      const reason = error instanceof JsonBoundsError ? 'is too large' : 'is not JSON';
      problems.push({ field, message: `${reason}: ${errorText(error)}` });
      return null;
    }
  };
  const artifact = json('abi');
  // Compilers write the ABI as a member of an object.
  const abi = isObject(artifact) && Array.isArray(artifact.abi) ? artifact.abi : artifact;
  const topic0 = [...new Set([...form.events, ...writtenLines(form.topic0)])];
  const contracts = writtenLines(form.contracts);
  const read = readAbiEvents(abi, topic0);
  return {
    given: {
      config: {
        ...Object.fromEntries(SWITCHES.map((name) => [name, form.switches.includes(name)])),
        webhookUrl: form.webhookUrl.trim(),
        // Browsers send CRLF.
        description: form.description.replaceAll('\r\n', '\n'),
        tag: form.tag,
        chainIds: form.chainIds,
        topic0: topic0.length === 0 ? null : topic0,
        contracts: contracts.length === 0 ? null : contracts,
        abi,
        advancedOptions: json('advancedOptions'),
        triggers: json('triggers'),
        getNativeBalances: json('getNativeBalances'),
      },
      addresses: form.stream === '' ? linesOf(form.addresses) : null,
    },
    problems,
    events: read.events.map((event) => ({
      ...event,
      given: topic0.find((topic) => read.given.get(topic)?.topic0 === event.topic0) ?? null,
    })),
    otherTopics: topic0.filter((topic) => !read.given.has(topic)),
  };
}

/** One per line: a signature contains commas. */
function writtenLines(written: string): readonly string[] {
  return written
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** These reverse or hide text; JSON can escape them. */
const UNSEEN = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function jsonOf(items: readonly unknown[] | null): string {
  if (items === null || items.length === 0) return '';
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(items, null, 2).replaceAll(UNSEEN, escaped);
}

export interface FieldProblem {
  readonly field: string | null;
  readonly message: string;
}

const BOXES: ReadonlySet<string> = new Set(SWITCHES);
const FIELDS: ReadonlySet<string> = new Set([
  ...['webhookUrl', 'description', 'tag', 'chainIds', 'topic0', 'contracts'],
  ...['abi', 'advancedOptions', 'triggers', 'getNativeBalances'],
]);
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

/** Null: the form is not the cause. */
export function problemsOf(error: unknown): readonly FieldProblem[] | null {
  if (error instanceof ValidationFailedError) return error.problems.map(({ path, message }) => placed(path, message));
  if (!(error instanceof ApiError) || error.status === NOT_FOUND || error.status >= SERVER_ERROR) return null;
  if (error.code === 'STREAM_ADDRESS_INVALID') {
    const lines = Object.values(error.details ?? {}).flatMap((line) =>
      isObject(line) && 'value' in line ? [String(line.value)] : [],
    );
    const message = `are not addresses (0x and 40 hexadecimal digits): ${lines.join(', ')}`;
    return [{ field: 'addresses', message: lines.length === 0 ? error.message : message }];
  }
  return [{ field: BY_CODE[error.code] ?? null, message: error.message }];
}

/** Null: no node is the cause. */
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
