import type { Chain } from '@chainstead/chains';
import {
  addFunctions,
  type ContractDefinition,
  ContractRefusedError,
  readFunctions,
} from '@chainstead/contracts';
import { isAddress } from '@chainstead/core';
import type { AbiType, CallableItem } from '@chainstead/events/decoding';
import type { AuditActor } from '@chainstead/http';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices, PageAnswer, View } from '../../console-page.ts';
import { button, changeForm, field, formFields, hiddenInputs, textMember } from '../../layout/form.ts';
import {
  code,
  cut,
  type Html,
  nameParts,
  paragraph,
  problem,
  record,
  shown,
  soft,
  type Text,
} from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { messageIn } from '../explorer/tables/data-table.ts';
import {
  type AbiSource,
  nothingAdded,
  parseAbi,
  readSourceText,
  SOURCE_ADDRESS,
  sourceButton,
} from './contract-form.ts';
import { contractAddress, findContract, functionsAddress } from './contract-page.ts';

const functionsForm = z.object({
  ...{ name: z.string(), chain: z.string() },
  abi: textMember({
    label: 'ABI',
    hint: 'JSON from the compiler, or an artifact of Foundry, Hardhat or Truffle. Its view functions and errors are stored.',
    rows: 8,
    attributes: 'class="code" autocomplete="off"',
  }),
  address: textMember({
    ...SOURCE_ADDRESS,
    attributes: 'maxlength="42" autocomplete="off" spellcheck="false"',
  }),
});

/** The hyphen is in no event's name: this path comes before those of events. */
export function addFunctionRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { database, explorer } = services;
  const show = async (
    request: ConsoleRequest,
    { definition, chain }: FoundContract,
    problem: string | null = null,
    abi = '',
  ): Promise<View> => {
    const items = await readFunctions(database, definition);
    const call = await callOf(request, explorer, { definition, chain, items });
    return {
      title: 'Read contract',
      heading: html`${shown(definition.name)}: read contract`,
      body: functionsView({
        definition,
        chain,
        items,
        call,
        problem,
        abi,
        source: explorer.abiSource,
        token: request.token,
      }),
    };
  };
  routes.view('/contracts/:name/read-contract', async (request) =>
    show(request, await findContract(request, services)),
  );
  routes.change('/contracts/functions', functionsForm, async (request) => {
    const { form } = request;
    const found = await findContract({ parameter: () => form.name, query: () => form.chain }, services);
    return add(request, found, form.abi);
  });
  routes.change('/contracts/functions/source', functionsForm, async (request) => {
    const { name, chain, address } = request.form;
    const found = await findContract({ parameter: () => name, query: () => chain }, services);
    const read = await readSourceText(explorer.abiSource, found.chain, address);
    return 'problem' in read ? show(request, found, read.problem) : add(request, found, read.text);
  });
  const add = async (
    request: ConsoleRequest & { readonly by: AuditActor },
    found: FoundContract,
    text: string,
  ): Promise<PageAnswer> => {
    const abi = parseAbi(text);
    if ('problem' in abi) return show(request, found, abi.problem, text);
    try {
      await addFunctions(database, found.definition, { abi: abi.json, by: request.by });
    } catch (error) {
      if (!(error instanceof ContractRefusedError)) throw error;
      return show(request, found, error.message, text);
    }
    return { goTo: functionsAddress(found.definition.name, found.chain.key) };
  };
}

type FoundContract = Awaited<ReturnType<typeof findContract>>;

/** A function with the values of its fields. */
type Call = NonNullable<Awaited<ReturnType<typeof callOf>>>;

interface FunctionsFacts {
  readonly definition: ContractDefinition;
  readonly chain: Chain;
  readonly items: readonly CallableItem[];
}

async function callOf(
  { query, asker }: ConsoleRequest,
  { data }: ConsoleServices['explorer'],
  { definition, chain, items }: FunctionsFacts,
) {
  const signature = query('function') ?? '';
  if (signature === '') return null;
  const item = items.find((one) => one.type === 'function' && one.signature === signature);
  const [address, block] = [(query('address') ?? firstAddress(definition)).trim(), query('block')?.trim() ?? ''];
  const values = item?.inputs.map((_, index) => query(`input${index}`) ?? '') ?? [];
  const call = { signature, address, block, values };
  if (item === undefined)
    return { ...call, answer: { problem: `The stored ABI has no view function ${cut(signature)}` } };
  if (!isAddress(address))
    return {
      ...call,
      answer: { problem: `${cut(address) || 'An empty text'} is no address (0x and 40 hexadecimal digits)` },
    };
  const requested = { chain: chain.key, function_name: signature, ...(block !== '' && { block }) };
  const target = `/api/v2.2/${address}/function?${new URLSearchParams(requested)}`;
  const params = Object.fromEntries(item.inputs.map(({ name }, index) => [name || index, values[index]]));
  const abi = [item, ...items.filter(({ type }) => type === 'error')];
  const { status, body } = await data.post(target, { abi, params }, asker);
  if (status === 200) return { ...call, answer: { value: body } };
  return { ...call, answer: { problem: messageIn(body) ?? `The API returned HTTP ${status}` } };
}

/** Empty: its contracts are the children of a factory. */
function firstAddress({ addresses, factory }: ContractDefinition): string {
  return factory === null ? (addresses[0] ?? '') : '';
}

interface FunctionsView extends FunctionsFacts {
  readonly call: Call | null;
  readonly problem: string | null;
  /** Refused text of the form. */
  readonly abi: string;
  readonly source: AbiSource | null;
  readonly token: string;
}

const PROBLEM_MAX = 600;

function functionsView(view: FunctionsView): Html {
  const { definition, chain, items, call } = view;
  const { name } = definition;
  const functions = items.filter(({ type }) => type === 'function');
  const unknown = call !== null && functions.every(({ signature }) => signature !== call.signature);
  return html`<p class="soft"><a href="/console/contracts">Contracts</a> · <a href="${contractAddress(name, chain.key)}">${shown(name)}, ${chain.key}</a></p>
${unknown && answerView(call, [], chain.key)}
${functions.length === 0 ? paragraph('No view functions are stored. Add them with the complete ABI below.') : html`<p class="hint">Each call reads an upstream. Write arrays and tuples as JSON.</p>`}
${functions.map((item, index) => functionView(item, { id: `f${index}`, definition, chain, call: call?.signature === item.signature ? call : null }))}
${abiForm(view, functions.length === 0)}`;
}

const VALUE_MAX = 4_000;
const VALUE = 'maxlength="4000" autocomplete="off" spellcheck="false"';

function functionView(
  { signature, inputs, outputs }: CallableItem,
  {
    id,
    definition,
    chain,
    call,
  }: Pick<FunctionsFacts, 'definition' | 'chain'> & { readonly id: string; readonly call: Call | null },
): Html {
  const line = (name: string, label: Text, value: string, more = ''): Html =>
    field(name, { label, attributes: `${VALUE}${more}` }, cut(value, VALUE_MAX), { id: `${id}-` });
  const fields = inputs.map((input, index) =>
    line(
      `input${index}`,
      html`${shown(input.name || `#${index}`)} ${soft(shown(typeText({ ...input, name: '' }), SIGNATURE_MAX))}`,
      call?.values[index] ?? '',
    ),
  );
  const returned = outputs.map(typeText).join(', ');
  return html`<details id="${id}" ${call !== null && 'open'}><summary>${code(nameParts(signature, SIGNATURE_MAX))}</summary>
<form method="get" action="${functionsAddress(definition.name)}#${id}" class="fields form" aria-label="${cut(signature)}">
${hiddenInputs({ chain: chain.key, function: signature })}
${fields}
${line('address', 'Contract', call?.address ?? firstAddress(definition))}
${line('block', 'Block', call?.block ?? '', ' placeholder="latest"')}
<p class="actions"><button>Call</button> ${soft(html`Returns ${returned === '' ? 'nothing' : shown(returned, SIGNATURE_MAX)}`)}</p></form>
${call !== null && answerView(call, outputs, chain.key)}</details>`;
}

const SIGNATURE_MAX = 400;

/** With the members of tuples: `(int24 lower, address holder)[] found`. */
function typeText({ name, type, components }: AbiType): string {
  const whole =
    components === undefined ? type : type.replace('tuple', () => `(${components.map(typeText).join(', ')})`);
  return name === '' ? whole : `${whole} ${name}`;
}

function answerView({ answer }: Call, outputs: CallableItem['outputs'], chain: string): Html {
  return 'problem' in answer
    ? problem(shown(answer.problem, PROBLEM_MAX))
    : outputsView(outputs, answer.value, chain);
}

function abiForm(
  { definition, chain, problem: refusal, abi, source, token }: FunctionsView,
  isOpen: boolean,
): Html {
  const content = html`<div class="fields form">${formFields(functionsForm.pick({ abi: true }), { values: { abi } })}
<p class="actions">${button('Add functions')}</p>
${source !== null && html`${formFields(functionsForm.pick({ address: true }), { values: { address: firstAddress(definition) } })}${sourceButton(source, '/console/contracts/functions/source')}`}</div>`;
  const hidden = { name: definition.name, chain: chain.key };
  return html`<details ${(isOpen || refusal !== null) && 'open'}><summary>Add functions</summary>
${refusal !== null && nothingAdded(refusal, PROBLEM_MAX)}
${changeForm('/console/contracts/functions', token, hidden, content, 'Add functions')}</details>`;
}

const TEXT_MAX = 2_000;

/** @param value response of `runContractFunction`: one value, or an object by position */
function outputsView(outputs: readonly AbiType[], value: unknown, chain: string): Html {
  const [only, ...others] = outputs;
  if (only === undefined) return html`<p role="status">The call succeeded and returns nothing.</p>`;
  const facts = outputs.map((output, index): readonly [string, Html] => [
    cut(output.name || (others.length === 0 ? 'Result' : `#${index}`)),
    valueView(output, others.length === 0 ? value : memberOf(value, index), chain),
  ]);
  return html`<div role="status">${record(facts)}</div>`;
}

function valueView(type: AbiType, value: unknown, chain: string): Html {
  if (typeof value === 'object') return jsonText(JSON.stringify(named(type, value)), type.name || type.type);
  const text = String(value);
  if (type.type === 'string') return shown(text, TEXT_MAX);
  const code = html`<code>${cut(text, TEXT_MAX)}</code>`;
  if (type.type !== 'address' || !isAddress(text)) return code;
  return html`<a href="/console/look-up/address/${text.toLowerCase()}?chain=${encodeURIComponent(chain)}">${code}</a>`;
}

/** Responses have each member of a tuple twice, by position and by name. */
function named(type: AbiType, value: unknown): unknown {
  const { components = [] } = type;
  if (Array.isArray(value)) {
    const item = { ...type, type: type.type.slice(0, type.type.lastIndexOf('[')) };
    return value.map((one: unknown) => named(item, one));
  }
  if (components.length === 0) return value;
  const members = components.map((member, index) => named(member, memberOf(value, index)));
  const names = components.map(({ name }) => name);
  if (names.includes('') || new Set(names).size < names.length) return members;
  return Object.fromEntries(names.map((name, index) => [name, members[index]]));
}

function memberOf(value: unknown, index: number): unknown {
  const members: Readonly<Record<number, unknown>> = Object(value);
  return members[index] ?? null;
}
