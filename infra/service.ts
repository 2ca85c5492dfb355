import { App, Tags } from 'aws-cdk-lib';
import recommendedFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { checkConcurrency } from './concurrency.ts';
import { EdgeStack } from './edge-stack.ts';
import { functions } from './functions.ts';
import { checkPublicAddress } from './public-address.ts';
import { checkAlarmTopics, checkEncryptionKey, settingsFrom } from './settings.ts';
import { StatefulStack } from './stateful-stack.ts';
import { StatelessStack } from './stateless-stack.ts';

export interface ServiceAppOptions {
  readonly bundlesDirectory: string;
  readonly outputDirectory: string;
  /** Values of the CDK command line and of CDK_CONTEXT_JSON win over these. */
  readonly context?: Readonly<Record<string, unknown>>;
  readonly region?: string | undefined;
  /** CloudFormation's rules check the templates, which takes seconds. The default is true. */
  readonly rulesApply?: boolean;
}

const libraryContext = {
  // The library's version is pinned, so these flags change only with it.
  ...recommendedFlags,
  // A table or queue that functions still use must not be deleted before them.
  '@aws-cdk/core:defaultCrossStackReferences': 'strong',
  // The CDK command line sets these two by itself; without them its templates would differ from ours.
  'aws:cdk:enable-path-metadata': true,
  'aws:cdk:enable-asset-metadata': true,
};

/**
 * Builds the whole service as a CDK app, not yet synthesized: two stacks, three with an edge. Throws one sentence for a
 * bad context value.
 */
export function serviceApp(options: ServiceAppOptions): App {
  const app = new App({
    outdir: options.outputDirectory,
    analyticsReporting: false,
    builtinCloudFormationValidation: options.rulesApply ?? true,
    context: { ...libraryContext, ...options.context },
  });
  const settings = settingsFrom(app.node);
  checkConcurrency(functions, settings);
  checkAlarmTopics(settings, options.region);
  checkEncryptionKey(settings, options.region);
  checkPublicAddress(settings, options.region);
  const state = new StatefulStack(app, 'Stateful', settings);
  const stateless = new StatelessStack(app, 'Stateless', {
    settings,
    state,
    bundlesDirectory: options.bundlesDirectory,
  });
  if (settings.edge) {
    const edge = new EdgeStack(app, 'Edge', settings);
    // The key exists before the edge shows it, and the edge shows it before the API asks for it (infra/edge.ts).
    edge.addStackDependency(state);
    stateless.addStackDependency(edge);
  }
  Tags.of(app).add('service', 'template-messaging');
  Tags.of(app).add('stage', settings.stage);
  return app;
}
