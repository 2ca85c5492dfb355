import type { TestProject } from 'vitest/node';
import { type AcceptanceTarget, stackOf, targetOfRun } from './destination.ts';
import { putTestClients } from './test-clients.ts';

/** Creates the test clients of an acceptance run, and removes them at its end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const destination: AcceptanceTarget = JSON.parse(process.env['ACCEPTANCE'] ?? '{}');
  const { logins, remove } = await putTestClients(targetOfRun(destination));
  project.provide('acceptance', { stage: destination.stage, logins });
  project.provide('stacks', [stackOf(destination)]);
  return remove;
}
