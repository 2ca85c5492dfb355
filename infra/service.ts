import { App, Tags } from 'aws-cdk-lib';
import { settingsFrom } from './settings.ts';
import { StatefulStack } from './stateful-stack.ts';
import { StatelessStack } from './stateless-stack.ts';

export interface ServiceAppOptions {
  /** Where the build left `<function>/index.mjs`. */
  readonly bundlesDirectory: string;
  /** Where the templates and assets go. */
  readonly outputDirectory: string;
  /** Context values; those of the CDK command line and of CDK_CONTEXT_JSON win. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** The whole service as a CDK app of two stacks, not yet synthesized. Throws one sentence for a bad context value. */
export function serviceApp(options: ServiceAppOptions): App {
  const app = new App({
    outdir: options.outputDirectory,
    analyticsReporting: false,
    ...(options.context === undefined ? {} : { context: { ...options.context } }),
  });
  const settings = settingsFrom(app.node);
  const state = new StatefulStack(app, 'Stateful', settings);
  new StatelessStack(app, 'Stateless', { settings, state, bundlesDirectory: options.bundlesDirectory });
  Tags.of(app).add('service', 'template-messaging');
  Tags.of(app).add('stage', settings.stage);
  return app;
}
