import { errorText, JSON_DEPTH_MAX, JsonBoundsError, parseBoundedJson, toQuantity } from '@chainstead/core';
import { type AbiEvent, type GivenStream, readAbiEvents, type Stream } from '@chainstead/streams';
import { z } from 'zod';
import { linesOf } from './change-streams.ts';
import type { FieldProblem } from './form-problems.ts';
import { isUuid } from './stream-query.ts';

/** Members that are on or off, in the order of the form. */
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

/** The limits of configurations in the API. */
const JSON_BOUNDS = { depthMax: JSON_DEPTH_MAX, valuesMax: 40_000 };

const text = z.string().default('');
/** Boxes that are ticked. */
const boxes = z
  .union([z.string(), z.array(z.string())])
  .default([])
  .transform((given) => (typeof given === 'string' ? [given] : given));

/** The form of a stream as browsers send it: errors are shown next to its fields. */
export const streamForm = z.object({
  /** Empty: a new one. */
  stream: z.string().refine((given) => given === '' || isUuid(given), 'is not an id'),
  webhookUrl: text,
  description: text,
  tag: text,
  /** Hexadecimal. */
  chainIds: boxes,
  switches: boxes,
  abi: text,
  /** topic0 of events of the ABI. */
  events: boxes,
  /** Others, one per line. */
  topic0: text,
  /** Names of contracts or events, one per line. */
  contracts: text,
  advancedOptions: text,
  triggers: text,
  getNativeBalances: text,
  addresses: text,
  /** For the preview. */
  chain: text,
  from: text,
  to: text,
});

export type StreamForm = z.infer<typeof streamForm>;

/** An empty form. */
export function emptyForm(): StreamForm {
  return streamForm.parse({ stream: '', switches: ['includeContractLogs'] });
}

/** A form with a stream's values. */
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

/** A parsed form. */
export interface ReadForm {
  readonly given: GivenStream;
  /** Unparsable values. */
  readonly problems: readonly FieldProblem[];
  /** Events of the ABI, as far as it can be parsed, each with its given topic0; null: none was given. */
  readonly events: readonly (AbiEvent & { readonly given: string | null })[];
  /** The topic0 without a matching event. */
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
      problems.push({
        field,
        message: `${error instanceof JsonBoundsError ? 'is too large' : 'is not JSON'}: ${errorText(error)}`,
      });
      return null;
    }
  };
  const abi = abiOf(json('abi'));
  const topic0 = [...new Set([...form.events, ...writtenLines(form.topic0)])];
  const contracts = writtenLines(form.contracts);
  const read = readAbiEvents(abi, topic0);
  const given = Object.fromEntries(SWITCHES.map((name) => [name, form.switches.includes(name)]));
  return {
    given: {
      config: {
        ...given,
        webhookUrl: form.webhookUrl.trim(),
        description: lines(form.description),
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
      given: topic0.find((one) => read.given.get(one)?.topic0 === event.topic0) ?? null,
    })),
    otherTopics: topic0.filter((one) => !read.given.has(one)),
  };
}

/** Compilers write the ABI as a member of an object. */
function abiOf(given: unknown): unknown {
  return typeof given === 'object' && given !== null && 'abi' in given && Array.isArray(given.abi) ? given.abi : given;
}

/** One per line: a signature contains commas. */
function writtenLines(written: string): readonly string[] {
  return written
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Browsers send CRLF line ends. */
function lines(written: string): string {
  return written.replaceAll('\r\n', '\n');
}

/** Characters that reverse or hide the text around them; JSON can escape them. */
const UNSEEN = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function jsonOf(items: readonly unknown[] | null): string {
  if (items === null || items.length === 0) return '';
  const said = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(items, null, 2).replaceAll(UNSEEN, said);
}
