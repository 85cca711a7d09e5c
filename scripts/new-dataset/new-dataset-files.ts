import type { NewDataset } from './dataset-names.ts';
import { renderEndpoint, renderManifest, renderRoute } from './render-routes.ts';
import { renderDecoder, renderSchema, renderView } from './render-table.ts';
import { renderDecoderTest, renderExample, renderExplainTest, renderRouteTest } from './render-tests.ts';

/** Every file of a new dataset's folder, not yet formatted. */
export function newDatasetFiles(dataset: NewDataset): readonly { readonly path: string; readonly text: string }[] {
  return [
    { path: 'schema.ts', text: renderSchema(dataset) },
    { path: 'analytics.sql', text: renderView(dataset) },
    { path: 'decode.ts', text: renderDecoder(dataset) },
    { path: 'manifest.ts', text: renderManifest(dataset) },
    { path: 'endpoint.ts', text: renderEndpoint(dataset) },
    { path: 'route.ts', text: renderRoute(dataset) },
    { path: 'testing/example-event.ts', text: renderExample(dataset) },
    { path: 'decode.test.ts', text: renderDecoderTest(dataset) },
    { path: 'route.test.ts', text: renderRouteTest(dataset) },
    { path: 'rows.explain.test.ts', text: renderExplainTest(dataset) },
  ];
}

/** `manifests.ts` with the line of one more dataset. */
export function withManifestLine(text: string, { camel, name }: NewDataset): string {
  return `${text}export { ${camel} } from './${name}/manifest.ts';\n`;
}
