/** A direct model of filter semantics, for testing compiled filters. */

export type ModelValue = bigint | boolean | string;

export function passesModel(
  filter: Readonly<Record<string, unknown>>,
  values: ReadonlyMap<string, ModelValue>,
): boolean {
  const [[op, operands] = ['', []]] = Object.entries(filter) as [string, unknown[]][];
  if (op === '') return true;
  if (op === 'and') return operands.every((member) => passesModel(member as Record<string, unknown>, values));
  if (op === 'or') return operands.some((member) => passesModel(member as Record<string, unknown>, values));
  const [field, operand] = operands;
  const value = values.get(String(field));
  if (value === undefined) return false;
  const candidates = (Array.isArray(operand) ? operand : [operand]).map((one) => like(value, one));
  const [first] = candidates;
  switch (op) {
    case 'eq':
    case 'in':
      return candidates.some((one) => one === like(value, value));
    case 'ne':
    case 'nin':
      return candidates.every((one) => one !== like(value, value));
    case 'lt':
      return first !== undefined && value < first;
    case 'lte':
      return first !== undefined && value <= first;
    case 'gt':
      return first !== undefined && value > first;
    case 'gte':
      return first !== undefined && value >= first;
    default:
      throw new Error(`No such operator: ${op}`);
  }
}

/** Converts the filter's value to the kind of the event's value. */
function like(value: ModelValue, said: unknown): ModelValue {
  if (typeof value === 'bigint') {
    const text = String(said);
    return text.startsWith('-0x') ? -BigInt(text.slice(1)) : BigInt(typeof said === 'number' ? said : text);
  }
  if (typeof value === 'boolean') return String(said) === 'true' || String(said) === '1';
  const text = String(said);
  return /^0x[0-9a-f]*$/i.test(text) ? text.toLowerCase() : text;
}
