import type { Chain } from '@chainstead/chains';
import { childFrom, parseLogPlace, type WantedContract } from '@chainstead/contracts';
import {
  type Address,
  errorText,
  isAddress,
  JSON_DEPTH_MAX,
  JsonBoundsError,
  parseAddress,
  parseBoundedJson,
} from '@chainstead/core';
import { readAbi } from '@chainstead/events/decoding';
import { html } from 'hono/html';
import { z } from 'zod';
import { changeForm, selectField, tickBox } from '../../layout/form.ts';
import { cut, type Html, shown } from '../../layout/html.ts';
import { count } from '../../layout/numbers.ts';

const PROBLEM_MAX = 1_000;
const SIGNATURE_MAX = 400;

export interface ContractFormFacts {
  readonly form: ContractForm;
  readonly events: readonly string[];
  readonly problem: string | null;
  readonly chains: readonly Chain[];
  readonly source: AbiSource | null;
  readonly token: string;
}

export function contractFormView({ form, events, problem, chains, source, token }: ContractFormFacts): Html {
  const line = (name: keyof ContractForm, label: string, hint: string): Html =>
    html`<div>${hinted(name, label, hint)}<input id="${name}" name="${name}" type="text" value="${form[name]}" autocomplete="off" spellcheck="false" aria-describedby="${name}-hint"></div>`;
  const area = (name: 'abi' | 'addresses', label: string, hint: string, rows: number): Html =>
    html`<div>${hinted(name, label, hint)}<textarea class="code" id="${name}" name="${name}" rows="${rows}" spellcheck="false" autocomplete="off" aria-describedby="${name}-hint">
${form[name]}</textarea></div>`;
  const chainField = selectField({
    ...{ name: 'chain', label: 'Chain', chosen: form.chain },
    options: chains.map(({ key }) => key),
  });
  const fields = (): Html => html`${eventBoxes(form, events)}
${line('name', 'Name', 'Tables are named contracts.<name>_<event>. With the name of a known contract, addresses and events are added to it.')}
${chainField}
${area('addresses', 'Addresses', 'One per line.', 3)}
${hintedBox('strict', 'Strict', 'Refuses addresses without code. An upstream of the chain is read.', html`${form.strict !== '' && 'checked'}`)}
${line('factoryEvent', 'Factory event', 'For children of a factory: the declaration of its event, such as PoolCreated(address indexed token0, address pool). The addresses are then those of the factory, or the name of a contract whose children are the factories.')}
${line('child', 'Child parameter', 'Parameter of the factory event that is the address of a child, such as pool.')}
${selectField({ name: 'childFrom', label: 'Start of the events of a child', options: CHILD_FROM, chosen: form.childFrom })}
${line('from', 'First block', 'Empty: the first block of the history of the chain.')}
${line('index', 'Indexed parameters', 'Columns that the API can filter by, such as owner.')}
${callsBox(form, chains)}
${line('upgrade', 'Upgrade', 'For a proxy: the implementation with this ABI, as an address, or the log of the upgrade, such as 18000000:57. Empty: the events have always had this form.')}
<p class="actions"><button formaction="/console/contracts/add">Add contract</button></p>`;
  const sourceFields = (given: AbiSource): Html => html`${chainField}
${line('addresses', 'Address', 'For a proxy, the address of its implementation.')}
${sourceButton(given, '/console/contracts/abi')}`;
  const content = html`<div class="fields form">
${area('abi', 'ABI', 'JSON from the compiler, or an artifact of Foundry, Hardhat or Truffle.', 8)}
<p class="actions"><button class="quiet">List events</button></p>
${events.length > 0 ? fields() : source !== null && sourceFields(source)}</div>`;
  return html`<section aria-labelledby="add"><h2 id="add">Add a contract</h2>
${problem !== null && html`<p class="problem" role="alert"><strong>Nothing was added.</strong> ${shown(problem, PROBLEM_MAX)}</p>`}
${changeForm('/console/contracts/check', token, content, 'Add a contract')}</section>`;
}

const CHILD_FROM = [
  ['transaction', 'Transaction of its factory event'],
  ['block', 'Block of its factory event'],
  ['log', 'Its factory event'],
] as const satisfies readonly (readonly [ContractForm['childFrom'], string])[];

function hinted(name: string, label: string, hint: string): Html {
  return html`<label for="${name}">${label}</label><p class="hint" id="${name}-hint">${hint}</p>`;
}

function hintedBox(name: string, label: string, hint: string, marks: Html): Html {
  return html`<div><label for="${name}"><input type="checkbox" id="${name}" name="${name}" value="yes" aria-describedby="${name}-hint" ${marks}> ${label}</label><p class="hint" id="${name}-hint">${hint}</p></div>`;
}

function callsBox({ calls }: ContractForm, chains: readonly Chain[]): Html {
  const able = chains.filter(indexesCalls).map(({ key }) => key);
  const hint =
    able.length === 0
      ? 'Refused: no chain here indexes all transactions. Set TRANSACTIONS_<CHAIN>=all.'
      : `Calls of functions that change state. For chains that index all transactions: ${able.join(', ')}.`;
  return hintedBox('calls', 'Calls', hint, html`${calls !== '' && 'checked'} ${able.length === 0 && 'disabled'}`);
}

function eventBoxes(form: ContractForm, events: readonly string[]): Html {
  const boxes = events.map((signature, index) => {
    const mark = form.events.includes(signature) && 'checked';
    const label = html`<code>${shown(signature, SIGNATURE_MAX)}</code>`;
    return html`<li>${tickBox({ id: `event-${index}`, name: 'events', value: signature, mark, label })}</li>`;
  });
  return html`<fieldset><legend>Events (${count(events.length)})</legend><ul class="events">${boxes}</ul></fieldset>`;
}

const JSON_BOUNDS = { depthMax: JSON_DEPTH_MAX, valuesMax: 400_000 };
const BLOCK = /^\d{1,15}$/;
const text = z.string().default('');

export const contractForm = z.object({
  name: text,
  chain: text,
  abi: text,
  addresses: text,
  /** Names a factory's children. Empty: the addresses are the contracts. */
  factoryEvent: text,
  child: text,
  childFrom: childFrom.catch('transaction'),
  strict: text,
  /** Empty: the first one of the chain's history. */
  from: text,
  index: text,
  calls: text,
  /** An upgrade's log (`18000000:57`), or the ABI's implementation. Empty: neither. */
  upgrade: text,
  events: z
    .union([z.string(), z.array(z.string())])
    .default([])
    .transform((given) => (typeof given === 'string' ? [given] : given).filter((event) => event !== '')),
});

export type ContractForm = z.output<typeof contractForm>;

export const EMPTY_CONTRACT: ContractForm = contractForm.parse({});

interface Problem {
  readonly problem: string;
}

export function readContractForm(
  form: ContractForm,
  chains: readonly Chain[],
): { readonly wanted: WantedContract } | Problem {
  const chain = chains.find(({ key }) => key === form.chain);
  if (chain === undefined) return { problem: 'Choose a chain that is indexed here' };
  const emitters = readEmitters(form);
  if ('problem' in emitters) return emitters;
  const from = form.from.trim();
  if (from !== '' && !BLOCK.test(from)) return { problem: 'The first block must be a whole number, or empty' };
  const abi = parseAbi(form.abi);
  if ('problem' in abi) return abi;
  const calls = form.calls !== '';
  const setting = `TRANSACTIONS_${chain.key.toUpperCase().replaceAll('-', '_')}=all`;
  if (calls && !indexesCalls(chain))
    return {
      problem: `Calls can't be decoded, because transactions of ${chain.key} are not indexed. Set ${setting}, or leave calls out`,
    };
  if (form.events.length === 0 && !calls) return { problem: 'Choose at least one event' };
  const upgrade = readUpgrade(form.upgrade.trim());
  if ('problem' in upgrade) return upgrade;
  const { events } = form;
  const [firstBlock, indexed] = [from === '' ? null : Number(from), partsOf(form.index)];
  const wanted = {
    name: form.name.trim(),
    chain,
    abi: abi.json,
    ...emitters,
    firstBlock,
    events,
    indexed,
    calls,
    ...upgrade,
  };
  return { wanted };
}

function readEmitters(form: ContractForm): Pick<WantedContract, 'addresses' | 'factory'> | Problem {
  const addresses = partsOf(form.addresses);
  const [event, child] = [form.factoryEvent.trim(), form.child.trim()];
  if ((event === '') !== (child === ''))
    return { problem: 'Enter both the event of the factory and its parameter with the child, or neither' };
  const [of = ''] = addresses;
  if (child !== '' && addresses.length === 1 && !of.startsWith('0x'))
    return { addresses: [], factory: { of, event, child, childFrom: form.childFrom } };
  const wrong = addresses.find((address) => !isAddress(address));
  if (wrong !== undefined)
    return { problem: `${wrong.slice(0, 100)} is no address (0x and 40 hexadecimal digits)` };
  if (addresses.length === 0) return { problem: 'Enter at least one address' };
  return {
    addresses: addresses.map((address) => parseAddress(address)),
    factory: child === '' ? null : { of: null, event, child, childFrom: form.childFrom },
  };
}

function indexesCalls({ transactions }: Chain): boolean {
  return transactions.mode === 'all';
}

function readUpgrade(field: string): Pick<WantedContract, 'upgrade' | 'implementation'> | Problem {
  if (field === '') return { upgrade: null, implementation: null };
  if (isAddress(field)) return { upgrade: null, implementation: parseAddress(field) };
  const upgrade = parseLogPlace(field);
  if (upgrade !== null) return { upgrade, implementation: null };
  return {
    problem: `${field.slice(0, 100)} is neither the address of an implementation nor the place of a log (<block>:<log index>, such as 18000000:57)`,
  };
}

export function eventsOfAbi(field: string): { readonly events: readonly string[] } | Problem {
  const abi = parseAbi(field);
  if ('problem' in abi) return abi;
  const entries = readAbi(abi.json, { anonymousEvents: true })?.entries ?? [];
  const events = entries.flatMap((parsed) => (parsed.kind === 'event' ? [parsed.entry.signature] : []));
  return events.length === 0
    ? { problem: 'This JSON contains no ABI with events' }
    : { events: [...new Set(events)] };
}

/** Checks no more than the size. */
export function parseAbi(field: string): { readonly json: unknown } | Problem {
  try {
    return { json: parseBoundedJson(field, JSON_BOUNDS) };
  } catch (error) {
    const reason = error instanceof JsonBoundsError ? 'is too large' : 'is not JSON';
    return { problem: `The ABI ${reason}: ${errorText(error)}` };
  }
}
function partsOf(field: string): string[] {
  return field.split(/[\s,]+/).filter((part) => part !== '');
}

/** Server of verified contracts that the operator allows. */
export interface AbiSource {
  readonly host: string;
  /** Parsed JSON, or why there is none. */
  read(chain: Chain, address: Address): Promise<{ readonly abi: unknown } | { readonly problem: string }>;
}

/** The text of a form's field, or why there is none. */
export async function readSourceText(
  source: AbiSource | null,
  chain: Chain | undefined,
  given: string,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const address = given.trim();
  if (source === null) return { problem: 'ABI_SOURCE is not set, so ABIs can only be pasted' };
  if (chain === undefined) return { problem: 'Choose a chain that is indexed here' };
  if (!isAddress(address))
    return { problem: `${cut(address) || 'An empty text'} is no address (0x and 40 hexadecimal digits)` };
  const read = await source.read(chain, parseAddress(address));
  return 'problem' in read ? read : { text: JSON.stringify(read.abi, null, 2) };
}

export function sourceButton({ host }: AbiSource, action: string): Html {
  return html`<p class="actions"><button class="quiet" formaction="${action}">Get the ABI from ${host}</button></p>`;
}
