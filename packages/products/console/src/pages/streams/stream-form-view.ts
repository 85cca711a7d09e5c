import type { Chain } from '@chainstead/chains';
import { toQuantity } from '@chainstead/core';
import { PREVIEW_BLOCKS_MAX } from '@chainstead/streams';
import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count } from '../../layout/numbers.ts';
import type { FieldProblem } from './stream-form.ts';
import { type ReadForm, readForm, type StreamForm, SWITCHES } from './stream-form.ts';

export interface StreamFormFacts {
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
  includeInternalTxs: 'internal transactions (needs nodes with traces)',
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
  return html`<div class="problem" role="alert"><p><strong>Nothing was saved.</strong> ${fields.length > 0 && html`Check ${fields.map((field, index) => html`${index === 0 ? '' : ', '}<a href="#${field}">${field}</a>`)}.`}</p>
${general.map(({ message }) => html`<p>${shown(message, PROBLEM_MAX)}</p>`)}</div>`;
}

function fieldsOf(facts: StreamFormFacts): Html {
  const { form, problems, chains } = facts;
  const read = readForm(form);
  type Control = (described: Html) => Html;
  const field = (name: string, label: string, hint: Html | string, control: Control): Html =>
    html`<div><label for="${name}">${label}</label>${hint !== '' && html`<p class="hint" id="${name}-hint">${hint}</p>`}${control(describedBy(problems, name, hint === '' ? 'bare' : 'hinted'))}${problemsAt(problems, name)}</div>`;
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
  return html`<input type="hidden" name="stream" value="${form.stream}"><div class="fields form">
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
${form.stream === '' ? area('addresses', 'Addresses', 'One per line.', 4) : html`<p>Change its addresses on the <a href="/console/streams/${form.stream}/addresses">address page</a>.</p>`}
${area('triggers', 'Triggers', html`JSON: contract calls whose results are included, such as <code>[{"type":"erc20transfer","contractAddress":"$contract","functionAbi":{…},"inputs":["$from"]}]</code>`, 3)}
${area('getNativeBalances', 'Native balances', html`JSON: accounts whose balances are included, such as <code>[{"type":"tx","selectors":["$fromAddress"]}]</code>`, 3)}
<p class="actions"><button class="quiet">Check</button><button class="quiet" formaction="/console/streams/form/test">Send test webhook</button><button formaction="/console/streams/form/save">${form.stream === '' ? 'Create stream' : 'Save'}</button></p>
${previewFields(form, chains, problems)}</div>`;
}

function chainBoxes(form: StreamForm, chains: readonly Chain[], problems: readonly FieldProblem[]): Html {
  const boxes = chains.map(({ id, key, name }) => {
    const hex = toQuantity(id);
    return html`<label for="chain-${hex}"><input type="checkbox" id="chain-${hex}" name="chainIds" value="${hex}" ${form.chainIds.includes(hex) && html`checked`}> <span title="${cut(name)}">${key}</span></label>`;
  });
  // Chains no longer followed stay unless unticked.
  const followed = new Set<string>(chains.map(({ id }) => toQuantity(id)));
  const others = form.chainIds
    .filter((id) => !followed.has(id))
    .map(
      (id, index) =>
        html`<label for="chain-other-${index}"><input type="checkbox" id="chain-other-${index}" name="chainIds" value="${id}" checked> ${shown(id, 20)}, not indexed here</label>`,
    );
  const none = html`<p class="hint">No chain is indexed here. Set <code>CHAINS</code>.</p>`;
  return html`<fieldset id="chainIds" tabindex="-1" ${describedBy(problems, 'chainIds', 'group')}><legend>Chains</legend>${chains.length === 0 ? none : boxes}${others}${problemsAt(problems, 'chainIds')}</fieldset>`;
}

function switchBoxes(form: StreamForm, problems: readonly FieldProblem[]): Html {
  const boxes = SWITCHES.map(
    (name) =>
      html`<div><label for="${name}"><input type="checkbox" id="${name}" name="switches" value="${name}" ${form.switches.includes(name) && html`checked`}> ${name}</label><span class="hint">${MEANINGS[name]}</span></div>`,
  );
  return html`<fieldset id="switches" tabindex="-1" ${describedBy(problems, 'switches', 'group')}><legend>Options</legend>${boxes}${problemsAt(problems, 'switches')}</fieldset>`;
}

function eventBoxes({ events }: ReadForm): Html {
  if (events.length === 0) return NOTHING;
  const rows = events.map(
    ({ signature, topic0, given }, index) =>
      html`<li><label for="event-${index}"><input type="checkbox" id="event-${index}" name="events" value="${given ?? signature}" ${given !== null && html`checked`}> <code>${shown(signature, PROBLEM_MAX)}</code></label><br><code class="soft">${topic0}</code></li>`,
  );
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
