import type { Chain } from '@chainstead/chains';
import {
  bytesColumns,
  type ContractDefinition,
  type ContractStatus,
  type EventTable,
  type ListedEvent,
} from '@chainstead/contracts';
import { html } from 'hono/html';
import { changeForm, selectField } from '../../layout/form.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { number, table as tableView } from '../../layout/table.ts';
import { type ContractForm, indexesCalls } from './contract-form.ts';

const PROBLEM_MAX = 1_000;
const SIGNATURE_MAX = 400;
const VALUE_MAX = 80;
const RANGES_SHOWN = 3;

export function contractListView(
  definitions: readonly ContractDefinition[],
  statuses: readonly ContractStatus[],
  token: string,
  chainName: (id: number) => string,
): Html {
  if (definitions.length === 0)
    return html`<p class="soft">No contract has been added yet. Add one below, or with <code>chainstead contracts add</code>.</p>`;
  const rows = definitions.flatMap((definition) => {
    const chain = chainName(definition.chainId);
    return definition.tables.map((table, index) => {
      const status = statuses.find((of) => of.table === table.name && of.chainId === definition.chainId);
      return [
        index === 0 ? contractCell(definition, chain, token) : NOTHING,
        shown(chain),
        html`<a href="/console/contracts/${definition.name}/${table.event}?chain=${encodeURIComponent(chain)}">${shown(table.event)}</a><br><code class="soft">${shown(table.abi.signature, SIGNATURE_MAX)}</code>`,
        ...(status === undefined ? ['', '', ''] : statusCells(status)),
      ];
    });
  });
  return tableView({
    label: 'Contracts',
    caption: 'Rows count all chains that share a table. ~ marks an estimate. Undecoded: logs that the ABI does not fit',
    columns: ['Contract', 'Chain', 'Event', number('Rows'), 'Indexed blocks', number('Undecoded')],
    rows,
  });
}

function contractCell({ name, addresses }: ContractDefinition, chain: string, token: string): Html {
  return html`${shown(name)}<br><span class="soft">${count(addresses.length)} ${addresses.length === 1 ? 'address' : 'addresses'}</span>
<details><summary>Remove <span class="soft">${shown(name)}</span></summary>${changeForm(
    '/console/contracts/remove',
    token,
    html`<input type="hidden" name="name" value="${name}"><input type="hidden" name="chain" value="${chain}"><p>Its tables and rows are deleted. This cannot be undone.</p><button class="danger">Remove</button>`,
    `Remove ${name} from ${chain}`,
  )}</details>`;
}

function statusCells({ rows, isExact, blocks, undecoded, isMissing, suspendedReason }: ContractStatus): Html[] {
  const newest = blocks.slice(-RANGES_SHOWN).toReversed();
  const others = blocks.length - newest.length;
  const ranges = newest.map(({ from, to }, index) => html`${index !== 0 && ', '}${count(from)} to ${count(to)}`);
  const problems = [
    isMissing ? html`<br><strong>Missing:</strong> the table was dropped. Add the contract again.` : NOTHING,
    suspendedReason === null ? NOTHING : html`<br><strong>Suspended:</strong> ${shown(suspendedReason)}`,
  ];
  return [
    html`${!isExact && '~'}${count(rows)}`,
    html`${blocks.length === 0 ? 'none yet' : ranges}${others > 0 && html`, and ${count(others)} more`}${problems}`,
    count(undecoded),
  ];
}

export interface ContractFormFacts {
  readonly form: ContractForm;
  readonly events: readonly string[];
  readonly problem: string | null;
  readonly chains: readonly Chain[];
  readonly token: string;
}

export function contractFormView({ form, events, problem, chains, token }: ContractFormFacts): Html {
  const line = (name: keyof ContractForm, label: string, hint: string): Html =>
    html`<div><label for="${name}">${label}</label><p class="hint" id="${name}-hint">${hint}</p><input id="${name}" name="${name}" type="text" value="${form[name]}" autocomplete="off" spellcheck="false" aria-describedby="${name}-hint"></div>`;
  const area = (name: 'abi' | 'addresses', label: string, hint: string, rows: number): Html =>
    html`<div><label for="${name}">${label}</label><p class="hint" id="${name}-hint">${hint}</p><textarea class="code" id="${name}" name="${name}" rows="${rows}" spellcheck="false" autocomplete="off" aria-describedby="${name}-hint">
${form[name]}</textarea></div>`;
  return html`<section aria-labelledby="add"><h2 id="add">Add a contract</h2>
${problem !== null && html`<p class="problem" role="alert"><strong>Nothing was added.</strong> ${shown(problem, PROBLEM_MAX)}</p>`}
${changeForm(
  '/console/contracts/check',
  token,
  html`<div class="fields form">
${area('abi', 'ABI', 'JSON from the compiler, or an artifact of Foundry, Hardhat or Truffle.', 8)}
<p class="actions"><button class="quiet">List events</button></p>
${
  events.length > 0 &&
  html`${eventBoxes(form, events)}
${line('name', 'Name', 'Tables are named contracts.<name>_<event>. With the name of a known contract, addresses and events are added to it.')}
${selectField({ name: 'chain', label: 'Chain', options: chains.map(({ key }) => key), chosen: form.chain })}
${area('addresses', 'Addresses', 'One per line.', 3)}
<div><label for="strict"><input type="checkbox" id="strict" name="strict" value="yes" aria-describedby="strict-hint" ${form.strict !== '' && html`checked`}> Strict</label><p class="hint" id="strict-hint">Refuses addresses without code. A node of the chain is read.</p></div>
${line('factoryEvent', 'Factory event', 'For children of a factory: the declaration of its event, such as PoolCreated(address indexed token0, address pool). The addresses are then those of the factory, or the name of a contract whose children are the factories.')}
${line('child', 'Child parameter', 'Parameter of the factory event that is the address of a child, such as pool.')}
${selectField({ name: 'childFrom', label: 'Start of the events of a child', options: CHILD_FROM, chosen: form.childFrom })}
${line('from', 'First block', 'Empty: the first block of the history of the chain.')}
${line('index', 'Indexed parameters', 'Columns that the API can filter by, such as owner.')}
${callsBox(form, chains)}
${line('upgrade', 'Upgrade', 'For a proxy: the implementation with this ABI, as an address, or the log of the upgrade, such as 18000000:57. Empty: the events have always had this form.')}
<p class="actions"><button formaction="/console/contracts/add">Add contract</button></p>`
}</div>`,
  'Add a contract',
)}</section>`;
}

const CHILD_FROM = [
  ['transaction', 'Transaction of its factory event'],
  ['block', 'Block of its factory event'],
  ['log', 'Its factory event'],
] as const satisfies readonly (readonly [ContractForm['childFrom'], string])[];

function callsBox({ calls }: ContractForm, chains: readonly Chain[]): Html {
  const able = chains.filter(indexesCalls).map(({ key }) => key);
  const hint =
    able.length === 0
      ? 'Refused: no chain here indexes all transactions. Set TRANSACTIONS_<CHAIN>=all.'
      : `Calls of functions that change state. For chains that index all transactions: ${able.join(', ')}.`;
  return html`<div><label for="calls"><input type="checkbox" id="calls" name="calls" value="yes" aria-describedby="calls-hint" ${calls !== '' && html`checked`} ${able.length === 0 && html`disabled`}> Calls</label><p class="hint" id="calls-hint">${hint}</p></div>`;
}

function eventBoxes(form: ContractForm, events: readonly string[]): Html {
  const boxes = events.map(
    (signature, index) =>
      html`<li><label for="event-${index}"><input type="checkbox" id="event-${index}" name="events" value="${signature}" ${form.events.includes(signature) && html`checked`}> <code>${shown(signature, SIGNATURE_MAX)}</code></label></li>`,
  );
  return html`<fieldset><legend>Events (${count(events.length)})</legend><ul class="events">${boxes}</ul></fieldset>`;
}

export function eventRowsView(
  definition: ContractDefinition,
  table: EventTable,
  chain: Chain,
  rows: readonly ListedEvent[],
): Html {
  const { parameters, view, event } = table;
  const path = `/api/v2.2/contracts/${definition.name}/${event}?chain=${chain.key}`;
  const [first] = bytesColumns(table);
  const list = tableView({
    label: 'Newest rows',
    caption: 'Newest first',
    columns: [
      ...[number('Block'), number('Log'), 'Time', 'Contract'],
      ...parameters.map(({ name, type }) => (type === 'numeric' ? number(shown(name)) : shown(name))),
    ],
    rows: rows.map(({ block, block_number: blockNumber, log_index: log, contract, params }) => [
      count(blockNumber),
      count(log),
      moment(new Date(block.block_timestamp)),
      html`<code>${contract}</code>`,
      ...parameters.map(({ name }) => {
        const value = params[name] ?? null;
        if (value === null) return '–';
        return shown(typeof value === 'string' ? value : JSON.stringify(value), VALUE_MAX);
      }),
    ]),
  });
  return html`<h1>${shown(definition.name)}: ${shown(event)}</h1>
<p class="soft"><a href="/console/contracts">Contracts</a> · ${shown(chain.key)} · <code>${shown(table.abi.signature, SIGNATURE_MAX)}</code></p>
<p>SQL: <code>${view}</code>. API: <code>${path}</code></p>
${first !== undefined && html`<p class="hint">In SQL, addresses and bytes are texts, which have no index. Conditions on <code>${shown(first[1])} = analytics.bytes('0x…')</code> use the index of <code>${shown(first[0])}</code>, if it is an indexed parameter.</p>`}
${rows.length === 0 ? html`<p class="soft">No rows yet.</p>` : list}`;
}
