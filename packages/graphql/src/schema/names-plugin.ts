import 'graphile-build-pg';

/** Types and fields have the names of tables and columns: camel case would make `a_b1` and `a_b_1` equal. */
export const namesPlugin: GraphileConfig.Plugin = {
  name: 'NamesPlugin',
  version: '1.0.0',
  inflection: {
    replace: {
      builtin: (previous, _options, text) => (text === 'Base64EncodedBinary' ? 'Bytes' : (previous?.(text) ?? text)),
      classCodecName: (_previous, _options, { pgClass }) => nameOf(pgClass),
      tableResourceName: (_previous, _options, { pgClass }) => nameOf(pgClass),
      tableType: (_previous, _options, codec) => codec.name,
      tableConnectionType: (_previous, _options, codec) => `${codec.name}Connection`,
      tableEdgeType: (_previous, _options, codec) => `${codec.name}Edge`,
      inputType: (_previous, _options, name) => `${name}Input`,
      patchType: (_previous, _options, name) => `${name}Patch`,
      baseInputType: (_previous, _options, name) => `${name}BaseInput`,
      attribute: (_previous, _options, { attributeName }) => attributeName,
    },
  },
};

function nameOf(table: { readonly relname: string; getNamespace(): { readonly nspname: string } | undefined }): string {
  return `${table.getNamespace()?.nspname}_${table.relname}`;
}
