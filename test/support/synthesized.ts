import type { App } from 'aws-cdk-lib';
import { functions } from '../../infra/functions.ts';
import { serviceApp } from '../../infra/service.ts';
import { stubBundles } from './assemblies.ts';
import { type Stacks, stacksIn } from './stack-templates.ts';

/**
 * Synthesizes the service in this process, over stub bundles of every function or of the given ones. The rules of
 * CloudFormation take longer than all the rest: they apply where they are what is tested. What a template says by itself
 * is asked of `stacksOf`, which costs nothing.
 */
export function synthesize(
  context: Readonly<Record<string, unknown>> = {},
  names: readonly string[] = Object.keys(functions),
  rulesApply = false,
): Stacks & { readonly app: App } {
  const { bundlesDirectory, outputDirectory, done } = stubBundles(names);
  try {
    const app = serviceApp({ bundlesDirectory, outputDirectory, context, rulesApply });
    app.synth();
    return { app, ...stacksIn(outputDirectory) };
  } finally {
    done();
  }
}
