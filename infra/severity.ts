import type { Settings } from './settings.ts';

/** `page` wakes a person at any hour; `ticket` is read on the next working day. Each has its own topic. */
export type Severity = 'page' | 'ticket';

export type AlarmTopics = Pick<Settings, 'stage' | 'pageTopicArn' | 'ticketTopicArn'>;

const sections = {
  objectives: 'alarms-of-the-objectives',
  messages: 'alarms-of-messages',
  queues: 'alarms-of-queues',
  functions: 'alarms-of-functions',
  requests: 'alarms-of-requests',
  platform: 'alarms-of-the-platform',
  templates: 'alarms-of-templates-and-numbers',
  receivers: 'alarms-of-the-receivers-of-clients',
  tables: 'alarms-of-tables-and-schedules',
  edge: 'alarms-of-the-edge',
} as const;
export type RunBookSection = keyof typeof sections;

/** The severity comes first, the run book's section last. */
export function alarmDescription(alarm: {
  readonly severity: Severity;
  readonly section: RunBookSection;
  readonly whoIsHurt: string;
  readonly whatToDo: string;
}): string {
  const { severity, section, whoIsHurt, whatToDo } = alarm;
  return `${severity}: ${whoIsHurt} ${whatToDo} Run book: infra/operate/README.md#${sections[section]}`;
}
