import type { Chain } from '@chainstead/chains';
import {
  errorText,
  isObject,
  JSON_DEPTH_MAX,
  JsonBoundsError,
  parseBoundedJson,
  toQuantity,
} from '@chainstead/core';
import { ApiError } from '@chainstead/http';
import {
  type EventTopic,
  type GivenStream,
  PREVIEW_BLOCKS_MAX,
  readAbiEvents,
  type Stream,
  ValidationFailedError,
} from '@chainstead/streams';
import { html } from 'hono/html';
import { z } from 'zod';
import {
  boxesMember,
  button,
  changeForm,
  describedBy,
  type FieldProblem,
  formFields,
  problemsAt,
  textMember,
  tickBox,
} from '../../layout/form.ts';
import { code, cut, type Html, link, NOTHING, shown } from '../../layout/html.ts';
import { count } from '../../layout/numbers.ts';
import { isUuid } from './webhooks.ts';

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
const line = (label: string, hint: string) => textMember({ label, hint, attributes: 'autocomplete="off"' });
const area = (label: string, rows: number, hint?: string) =>
  textMember({ label, hint, rows, attributes: 'class="code" autocomplete="off"' });
const BLOCK = { digits: true, attributes: 'maxlength="15" autocomplete="off"' } as const;

const previewForm = z.object({
  chain: textMember({ label: 'Chain', options: [] }),
  from: textMember({ label: 'Block', ...BLOCK }),
  to: textMember({ label: 'To block (empty: only this one)', ...BLOCK }),
});

const configForm = z.object({
  webhookUrl: line('URL', 'Before the stream is saved, this URL must return 2xx to the test webhook.'),
  description: area('Description', 2),
  tag: line('Tag', 'Included in each webhook.'),
  chainIds: boxesMember(),
  switches: boxesMember(),
  abi: area('ABI', 8, 'JSON from the compiler. Check the form to list its events.'),
  events: boxesMember(),
  topic0: area(
    'Other topic0',
    2,
    'One per line: a signature such as Transfer(address,address,uint256), or its hash. Each needs an event in the ABI.',
  ),
  contracts: area(
    'Your contracts',
    2,
    'One per line: a contract such as `vault`, or an event such as `vault.Deposit`. Their logs match without addresses.',
  ),
  advancedOptions: area(
    'Advanced options',
    4,
    'JSON: filters by event, such as `[{"topic0":"Transfer(address,address,uint256)","filter":{"gt":["value","1000000"]}}]`',
  ),
  /** Only of a new stream: others have a page for them. */
  addresses: area('Addresses', 4, 'One per line.'),
  triggers: area(
    'Triggers',
    3,
    'JSON: contract calls whose results are included, such as `[{"type":"erc20transfer","contractAddress":"$contract","functionAbi":{…},"inputs":["$from"]}]`',
  ),
  getNativeBalances: area(
    'Native balances',
    3,
    'JSON: accounts whose balances are included, such as `[{"type":"tx","selectors":["$fromAddress"]}]`',
  ),
});

export const streamForm = z.object({
  stream: z.string().refine((id) => id === '' || isUuid(id), 'is not an id'),
  ...configForm.shape,
  ...previewForm.shape,
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

interface ReadForm {
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

export function linesOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
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

const BOXES: ReadonlySet<string> = new Set(SWITCHES);
const FIELDS: ReadonlySet<string> = new Set(
  Object.keys(streamForm.omit({ stream: true, switches: true, events: true, addresses: true }).shape),
);
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
  if (error instanceof ValidationFailedError)
    return error.problems.map(({ path, message }) => placed(path, message));
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

function placed(path: string, message: string): FieldProblem {
  const [member = '', ...rest] = path.split('.');
  if (BOXES.has(member)) return { field: 'switches', message: `${member}: ${message}` };
  const where = rest.length === 0 ? '' : `${rest.join('.')}: `;
  return FIELDS.has(member)
    ? { field: member, message: where + message }
    : { field: null, message: path === '' ? message : `${path}: ${message}` };
}

interface StreamFormFacts {
  readonly form: StreamForm;
  readonly problems: readonly FieldProblem[];
  readonly outcome: Html;
  readonly chains: readonly Chain[];
  readonly token: string;
}

const PROBLEM_MAX = 400;

const MEANINGS: Readonly<Record<(typeof SWITCHES)[number], string>> = {
  includeContractLogs: 'event logs of contracts',
  includeNativeTxs: 'transactions of watched addresses',
  includeInternalTxs: 'internal transactions (needs upstreams with traces)',
  includeAllTxLogs: 'all event logs of a matching transaction',
  allAddresses: 'events of all contracts, not only of watched addresses',
  filterPossibleSpamAddresses: 'skip contracts flagged as spam',
  sendRemoved: 'also send blocks that a reorg removed',
  demo: 'mark as a demo (no effect)',
};

export function streamFormView(facts: StreamFormFacts): Html {
  const { form, problems, outcome, chains, token } = facts;
  const isNew = form.stream === '';
  const read = readForm(form);
  const addresses =
    !isNew &&
    html`<p>Change its addresses on the <a href="/console/streams/${form.stream}/addresses">address page</a>.</p>`;
  const views = {
    chainIds: chainBoxes(form, chains, problems),
    switches: switchBoxes(form, problems),
    events: eventBoxes(read),
    ...(addresses && { addresses }),
  };
  const values = { ...form, topic0: read.otherTopics.join('\n') };
  const fields = html`<div class="fields form">
${formFields(configForm, { values, problems, views })}
<p class="actions">${button('Check', 'quiet')}<button class="quiet" formaction="/console/streams/form/test">Send test webhook</button><button formaction="/console/streams/form/save">${isNew ? 'Create stream' : 'Save'}</button></p>
<fieldset><legend>Preview</legend><p class="hint">Webhooks of one block, or of up to ${count(PREVIEW_BLOCKS_MAX)} blocks. Nothing is sent or saved.</p><div class="filter">
${formFields(previewForm, { values, problems, options: { chain: chains.map(({ id, key }) => [toQuantity(id), key] as const) } })}
<div><button class="quiet" formaction="/console/streams/form/preview">Show</button></div></div></fieldset></div>`;
  return html`<p class="soft"><a href="/console/streams">Streams</a>${!isNew && html` · <a href="/console/streams/${form.stream}">Stream</a>`}</p>
${summaryOf(problems)}${outcome}
${changeForm('/console/streams/form/check', token, { stream: form.stream }, fields, isNew ? 'New stream' : 'Edit the stream')}`;
}

function summaryOf(problems: readonly FieldProblem[]): Html {
  if (problems.length === 0) return NOTHING;
  const general = problems.filter(({ field }) => field === null);
  const fields = [...new Set(problems.flatMap(({ field }) => (field === null ? [] : [field])))];
  const links = fields.map((name, index) => [index > 0 && ', ', link(`#${name}`, name)]);
  return html`<div class="problem" role="alert"><p><strong>Nothing was saved.</strong> ${fields.length > 0 && html`Check ${links}.`}</p>
${general.map(({ message }) => html`<p>${shown(message, PROBLEM_MAX)}</p>`)}</div>`;
}

function chainBoxes(form: StreamForm, chains: readonly Chain[], problems: readonly FieldProblem[]): Html {
  const boxes = chains.map(({ id, key, name }) => {
    const hex = toQuantity(id);
    const label = html`<span title="${cut(name)}">${key}</span>`;
    return tickBox('chainIds', hex, form.chainIds.includes(hex), label, `chain-${hex}`);
  });
  // Chains no longer followed stay unless unticked.
  const followed = new Set<string>(chains.map(({ id }) => toQuantity(id)));
  const others = form.chainIds
    .filter((id) => !followed.has(id))
    .map((value, index) => {
      return tickBox(
        'chainIds',
        value,
        true,
        html`${shown(value, 20)}, not indexed here`,
        `chain-other-${index}`,
      );
    });
  const none = html`<p class="hint">No chain is indexed here. Set <code>CHAINS</code>.</p>`;
  return boxGroup('chainIds', 'Chains', problems, html`${chains.length === 0 ? none : boxes}${others}`);
}

function switchBoxes(form: StreamForm, problems: readonly FieldProblem[]): Html {
  const boxes = SWITCHES.map((name) => {
    const box = tickBox('switches', name, form.switches.includes(name));
    return html`<div>${box}<span class="hint">${MEANINGS[name]}</span></div>`;
  });
  return boxGroup('switches', 'Options', problems, html`${boxes}`);
}

function boxGroup(name: string, legend: string, problems: readonly FieldProblem[], boxes: Html): Html {
  const described = describedBy(problems, name, 'group');
  return html`<fieldset id="${name}" tabindex="-1" ${described}><legend>${legend}</legend>${boxes}${problemsAt(problems, name)}</fieldset>`;
}

function eventBoxes({ events }: ReadForm): Html {
  if (events.length === 0) return NOTHING;
  const rows = events.map(({ signature, topic0, given }, index) => {
    const label = code(shown(signature, PROBLEM_MAX));
    const box = tickBox('events', given ?? signature, given !== null, label, `event-${index}`);
    return html`<li>${box}<br><code class="soft">${topic0}</code></li>`;
  });
  return html`<fieldset><legend>Watched events of the ABI (${count(events.length)})</legend><ul class="events">${rows}</ul></fieldset>`;
}
