import type { Chain } from '@chainstead/chains';
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
  PREVIEW_BLOCKS_MAX,
  readAbiEvents,
  type Stream,
  ValidationFailedError,
} from '@chainstead/streams';
import { html } from 'hono/html';
import { z } from 'zod';
import { changeForm, hidden, tickBox } from '../../layout/form.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
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

/** Null: no node is the cause. */
export function nodeProblemOf(error: unknown): FieldProblem | null {
  if (!(error instanceof ChainsteadError) || error instanceof ApiError) return null;
  if (error instanceof DatabaseUnavailableError) return null;
  return {
    field: null,
    message: `The blocks could not be read from the chain's upstreams: ${error.message}. Try again later, or check the upstreams on the page of the chain`,
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

interface StreamFormFacts {
  readonly form: StreamForm;
  readonly problems: readonly FieldProblem[];
  readonly outcome: Html;
  readonly chains: readonly Chain[];
  readonly token: string;
}

const PROBLEM_MAX = 400;
const PROBLEMS_SHOWN = 20;

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
  const { form, outcome, token } = facts;
  const isNew = form.stream === '';
  return html`<h1>${isNew ? 'New stream' : 'Edit the stream'}</h1>
<p class="soft"><a href="/console/streams">Streams</a>${!isNew && html` · <a href="/console/streams/${form.stream}">Stream</a>`}</p>
${summaryOf(facts.problems)}${outcome}
${changeForm('/console/streams/form/check', token, fieldsOf(facts), isNew ? 'New stream' : 'Edit the stream')}`;
}

function summaryOf(problems: readonly FieldProblem[]): Html {
  if (problems.length === 0) return NOTHING;
  const general = problems.filter(({ field }) => field === null);
  const fields = [...new Set(problems.flatMap(({ field }) => (field === null ? [] : [field])))];
  const links = fields.map((field, index) => [index > 0 && ', ', html`<a href="#${field}">${field}</a>`]);
  return html`<div class="problem" role="alert"><p><strong>Nothing was saved.</strong> ${fields.length > 0 && html`Check ${links}.`}</p>
${general.map(({ message }) => html`<p>${shown(message, PROBLEM_MAX)}</p>`)}</div>`;
}

function fieldsOf(facts: StreamFormFacts): Html {
  const { form, problems, chains } = facts;
  const read = readForm(form);
  type Control = (described: Html) => Html;
  const field = (name: string, label: string, hint: Html | string, control: Control): Html => {
    const hinted = hint !== '' && html`<p class="hint" id="${name}-hint">${hint}</p>`;
    const described = describedBy(problems, name, hint === '' ? 'bare' : 'hinted');
    return html`<div><label for="${name}">${label}</label>${hinted}${control(described)}${problemsAt(problems, name)}</div>`;
  };
  const area = (name: keyof StreamForm, label: string, hint: Html | string, rows: number): Html => {
    const text = name === 'topic0' ? read.otherTopics.join('\n') : form[name];
    const control: Control = (described) =>
      html`<textarea class="code" id="${name}" name="${name}" rows="${rows}" spellcheck="false" autocomplete="off" ${described}>
${text}</textarea>`;
    return field(name, label, hint, control);
  };
  const line = (name: keyof StreamForm, label: string, hint: Html | string): Html => {
    const control: Control = (described) =>
      html`<input id="${name}" name="${name}" type="text" value="${form[name]}" autocomplete="off" ${described}>`;
    return field(name, label, hint, control);
  };
  const isNew = form.stream === '';
  const addresses = html`<p>Change its addresses on the <a href="/console/streams/${form.stream}/addresses">address page</a>.</p>`;
  return html`${hidden({ stream: form.stream })}<div class="fields form">
${line('webhookUrl', 'URL', 'Before the stream is saved, this URL must return 2xx to the test webhook.')}
${area('description', 'Description', '', 2)}
${line('tag', 'Tag', 'Included in each webhook.')}
${chainBoxes(form, chains, problems)}
${switchBoxes(form, problems)}
${area('abi', 'ABI', 'JSON from the compiler. Check the form to list its events.', 8)}
${eventBoxes(read)}
${area('topic0', 'Other topic0', 'One per line: a signature such as Transfer(address,address,uint256), or its hash. Each needs an event in the ABI.', 2)}
${area('contracts', 'Your contracts', html`One per line: a contract such as <code>vault</code>, or an event such as <code>vault.Deposit</code>. Their logs match without addresses.`, 2)}
${area('advancedOptions', 'Advanced options', html`JSON: filters by event, such as <code>[{"topic0":"Transfer(address,address,uint256)","filter":{"gt":["value","1000000"]}}]</code>`, 4)}
${isNew ? area('addresses', 'Addresses', 'One per line.', 4) : addresses}
${area('triggers', 'Triggers', html`JSON: contract calls whose results are included, such as <code>[{"type":"erc20transfer","contractAddress":"$contract","functionAbi":{…},"inputs":["$from"]}]</code>`, 3)}
${area('getNativeBalances', 'Native balances', html`JSON: accounts whose balances are included, such as <code>[{"type":"tx","selectors":["$fromAddress"]}]</code>`, 3)}
<p class="actions"><button class="quiet">Check</button><button class="quiet" formaction="/console/streams/form/test">Send test webhook</button><button formaction="/console/streams/form/save">${isNew ? 'Create stream' : 'Save'}</button></p>
${previewFields(form, chains, problems)}</div>`;
}

function chainBoxes(form: StreamForm, chains: readonly Chain[], problems: readonly FieldProblem[]): Html {
  const boxes = chains.map(({ id, key, name }) => {
    const hex = toQuantity(id);
    const mark = form.chainIds.includes(hex) && 'checked';
    const label = html`<span title="${cut(name)}">${key}</span>`;
    return tickBox({ id: `chain-${hex}`, name: 'chainIds', value: hex, mark, label });
  });
  // Chains no longer followed stay unless unticked.
  const followed = new Set<string>(chains.map(({ id }) => toQuantity(id)));
  const others = form.chainIds
    .filter((id) => !followed.has(id))
    .map((value, index) => {
      const label = html`${shown(value, 20)}, not indexed here`;
      return tickBox({ id: `chain-other-${index}`, name: 'chainIds', value, mark: 'checked', label });
    });
  const none = html`<p class="hint">No chain is indexed here. Set <code>CHAINS</code>.</p>`;
  return boxGroup('chainIds', 'Chains', problems, html`${chains.length === 0 ? none : boxes}${others}`);
}

function switchBoxes(form: StreamForm, problems: readonly FieldProblem[]): Html {
  const boxes = SWITCHES.map((name) => {
    const mark = form.switches.includes(name) && 'checked';
    const box = tickBox({ id: name, name: 'switches', value: name, mark, label: name });
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
    const mark = given !== null && 'checked';
    const label = html`<code>${shown(signature, PROBLEM_MAX)}</code>`;
    const box = tickBox({ id: `event-${index}`, name: 'events', value: given ?? signature, mark, label });
    return html`<li>${box}<br><code class="soft">${topic0}</code></li>`;
  });
  return html`<fieldset><legend>Watched events of the ABI (${count(events.length)})</legend><ul class="events">${rows}</ul></fieldset>`;
}

function previewFields(form: StreamForm, chains: readonly Chain[], problems: readonly FieldProblem[]): Html {
  const options = chains.map(({ id, key }) => {
    const hex = toQuantity(id);
    return html`<option value="${hex}" ${form.chain === hex && html`selected`}>${key}</option>`;
  });
  const block = (name: 'from' | 'to', label: string): Html =>
    html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" inputmode="numeric" value="${form[name]}" maxlength="15" autocomplete="off" ${describedBy(problems, name, 'bare')}>${problemsAt(problems, name)}</div>`;
  return html`<fieldset><legend>Preview</legend><p class="hint">Webhooks of one block, or of up to ${count(PREVIEW_BLOCKS_MAX)} blocks. Nothing is sent or saved.</p><div class="filter">
<div><label for="chain">Chain</label><select id="chain" name="chain" ${describedBy(problems, 'chain', 'bare')}>${options}</select>${problemsAt(problems, 'chain')}</div>
${block('from', 'Block')}${block('to', 'To block (empty: only this one)')}
<div><button class="quiet" formaction="/console/streams/form/preview">Show</button></div></div></fieldset>`;
}

function problemsAt(problems: readonly FieldProblem[], name: string): Html {
  const own = problems.filter(({ field }) => field === name).slice(0, PROBLEMS_SHOWN);
  if (own.length === 0) return NOTHING;
  return html`<div class="problem" id="${name}-problem">${own.map(({ message }) => html`<p>${shown(message, PROBLEM_MAX)}</p>`)}</div>`;
}

/** For screen readers. Groups can't be invalid, only their fields. */
function describedBy(problems: readonly FieldProblem[], name: string, kind: 'bare' | 'hinted' | 'group'): Html {
  const isWrong = problems.some(({ field }) => field === name);
  const ids = [...(isWrong ? [`${name}-problem`] : []), ...(kind === 'hinted' ? [`${name}-hint`] : [])];
  if (ids.length === 0) return NOTHING;
  return html`${isWrong && kind !== 'group' && html`aria-invalid="true" `}aria-describedby="${ids.join(' ')}"`;
}
