import type { App } from 'aws-cdk-lib';
import { functions } from '../../infra/functions.ts';
import { serviceApp } from '../../infra/service.ts';
import { stubBundles } from './assemblies.ts';
import { type Stacks, stacksIn } from './stack-templates.ts';

/**
 * Synthesizes the service in this process with stub bundles. Validation by CloudFormation's rules takes most of the
 * time, so only its own tests use it. For plain questions about a template, `stacksOf` is free.
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
