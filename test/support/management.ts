import { PlatformFailure } from '../../lib/platform/failure.ts';
import type {
  CreatedTemplate,
  TemplateManagement,
} from '../../lib/templates/authoring/platform-template-management.ts';
import type { PlatformTemplates } from '../../lib/templates/model/platform-templates.ts';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';

/** The platform's template management in memory records its calls and fails on demand. */
export interface RecordedPlatform {
  readonly management: TemplateManagement;
  readonly platformTemplates: Pick<PlatformTemplates, 'find'>;
  readonly calls: unknown[];
  /** The next calls throw this while it is set. */
  failure: PlatformFailure | undefined;
  /** `find` throws this while it is set. */
  readFailure: PlatformFailure | undefined;
  found: PlatformTemplate | undefined;
  created: CreatedTemplate;
  /** It runs while the platform deletes. */
  removing: () => Promise<void>;
}

export function recordedPlatform(): RecordedPlatform {
  const act = (call: readonly unknown[]) => {
    platform.calls.push(call);
    if (platform.failure !== undefined) throw platform.failure;
  };
  const platform: RecordedPlatform = {
    calls: [],
    failure: undefined,
    readFailure: undefined,
    found: undefined,
    created: { id: '1627019861106999', status: 'PENDING', category: 'UTILITY' },
    removing: async () => undefined,
    platformTemplates: {
      find: async () => {
        if (platform.readFailure !== undefined) throw platform.readFailure;
        return platform.found;
      },
    },
    management: {
      create: async ({ wabaId }, template, timeLeftMs) => {
        timeLeftMs();
        act(['create', wabaId, template]);
        return platform.created;
      },
      edit: async (_, { id, changes }, timeLeftMs) => {
        timeLeftMs();
        act(['edit', id, changes]);
      },
      remove: async ({ wabaId }, { id, name }) => {
        await platform.removing();
        act(['remove', wabaId, id, name]);
      },
    },
  };
  return platform;
}

export const failures = {
  unreachable: new PlatformFailure('not_sent'),
  brokenOff: new PlatformFailure('ambiguous', { httpStatus: 500 }),
  ours: new PlatformFailure('refused', { httpStatus: 401, code: 190 }),
  throttled: new PlatformFailure('refused', { httpStatus: 400, code: 80008, retryAfterSeconds: 7 }),
  content: new PlatformFailure('refused', { httpStatus: 400, code: 100, subcode: 2388039, userMessage: 'Not now.' }),
};
