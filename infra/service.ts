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
  /** Where the build left `<function>/index.mjs`. */
  readonly bundlesDirectory: string;
  /** Where the templates and assets go. */
  readonly outputDirectory: string;
  /** Context values; those of the CDK command line and of CDK_CONTEXT_JSON win. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Where the stacks go, when that is known. */
  readonly region?: string | undefined;
  /** Whether the templates have to pass the rules of CloudFormation, which takes seconds; so they do by default. */
  readonly rulesApply?: boolean;
}

const libraryContext = {
  // The behaviour this version of the library recommends for new apps; the version is pinned, so it changes with it.
  ...recommendedFlags,
  // A table or queue that functions still use must not go away before them.
  '@aws-cdk/core:defaultCrossStackReferences': 'strong',
  // What the CDK command line switches on by itself: without these two, its templates would differ from ours.
  'aws:cdk:enable-path-metadata': true,
  'aws:cdk:enable-asset-metadata': true,
};

/**
 * The whole service as a CDK app of two stacks, of three with an edge, not yet synthesized. Throws one sentence for a bad
 * context value.
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
    // Its key is there before it shows it, and it shows a key before the API asks for one (infra/edge.ts).
    edge.addStackDependency(state);
    stateless.addStackDependency(edge);
  }
  Tags.of(app).add('service', 'template-messaging');
  Tags.of(app).add('stage', settings.stage);
  return app;
}
