import type { Chain } from '@chainstead/chains';
import type { z } from '@hono/zod-openapi';
import type { Parameters } from '../parameters/parameters.ts';

/** Parameters of a route: names of {@link Parameters}, or schemas by the name that clients use. */
export type ParameterList = readonly (ParameterName | ParameterShape)[];

type ParameterName = keyof Parameters;
type ScalarName = Exclude<ParameterName, 'blockBounds'>;
type ParameterShape = Readonly<Record<string, z.ZodType | ScalarName>>;

/** The parsed values by name; `chain` is the chain itself, eth if the request names none. */
export type ValuesOf<List extends ParameterList> = WithChain<z.output<z.ZodObject<ShapeOf<List>>>>;

type ShapeOf<List extends ParameterList> = Flat<Union<ItemShape<List[number]>>>;

type ItemShape<Item> = Item extends 'blockBounds'
  ? Parameters['blockBounds']
  : Item extends ScalarName
    ? { readonly [Name in Item]: Parameters[Name] }
    : { readonly [Name in keyof Item]: Item[Name] extends ScalarName ? Parameters[Item[Name]] : Item[Name] };

type Union<Shapes> = (Shapes extends unknown ? (shape: Shapes) => void : never) extends (shape: infer All) => void
  ? All
  : never;
type Flat<Shape> = { [Name in keyof Shape]: Shape[Name] & z.ZodType };
type WithChain<Values> = Values extends { readonly chain?: Chain | undefined }
  ? Omit<Values, 'chain'> & { readonly chain: Chain }
  : Values;

/** Schemas by the name that clients use. */
export type Shape = Readonly<Record<string, z.ZodType>>;

export function shapeOf(list: ParameterList, parameters: Parameters): Shape {
  const shape: Record<string, z.ZodType> = {};
  for (const item of list)
    if (item === 'blockBounds') Object.assign(shape, parameters.blockBounds);
    else if (typeof item === 'string') shape[item] = parameters[item];
    else
      for (const [name, schema] of Object.entries(item))
        shape[name] = typeof schema === 'string' ? parameters[schema] : schema;
  return shape;
}
