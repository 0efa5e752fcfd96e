import { Group, Select, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import type { ComponentType } from 'react'
import { hasErrorIn, OptionGroup } from '../../../ui/formPage/OptionGroup'
import type { FormProps } from '../draft/taskDraft'
import { useText } from '../text'
import { FormCard } from './FormCard'
import { faultsBelow } from './OptionFields'
import { PairsField } from './PairsField'
import { PeopleField } from './PeopleField'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** The main part of a task that is no script. */
export function KindFields(props: FormProps) {
  const t = useText()
  const Fields = KINDS[props.task.type]
  if (!Fields) return null
  return (
    <FormCard title={t.types[props.task.type]!}>
      <Fields {...props} />
    </FormCard>
  )
}

function ScraperFields({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const toggle = (name: 'json' | 'gzip' | 'register_body', label: string) => (
    <Switch
      label={label}
      disabled={readOnly}
      checked={!!task[name]}
      onChange={(event) => set({ [name]: event.currentTarget.checked })}
    />
  )
  return (
    <Stack gap={10}>
      <Group gap={8} wrap="nowrap" align="flex-start">
        <Select
          w={110}
          label={t.method}
          allowDeselect={false}
          readOnly={readOnly}
          data={METHODS}
          value={task.method ?? 'GET'}
          error={errors.method}
          onChange={(method) => set({ method })}
        />
        <TextInput
          flex={1}
          label={t.url}
          required
          type="url"
          placeholder="https://example.com/health"
          readOnly={readOnly}
          value={task.url ?? ''}
          error={errors.url}
          onChange={(event) => set({ url: event.currentTarget.value })}
        />
      </Group>
      <TextInput
        label={t.statusCode}
        description={t.statusHint}
        readOnly={readOnly}
        value={task.status_code ?? ''}
        error={errors.status_code}
        onChange={(event) => set({ status_code: event.currentTarget.value })}
      />
      <OptionGroup
        title={t.groups.request}
        summary={t.requestSummary(Object.keys(task.headers ?? {}).length, !!task.body)}
        hasErrors={hasErrorIn(errors, ['headers', 'body', 'json'])}
      >
        <PairsField
          label={t.headers}
          hint={t.headersHint}
          bad={t.headersBad}
          sign=":"
          value={task.headers ?? {}}
          error={faultsBelow(errors, 'headers.')}
          readOnly={readOnly}
          onChange={(headers) => set({ headers })}
        />
        <Textarea
          label={t.body}
          autosize
          minRows={3}
          maxRows={14}
          classNames={{ input: 'mono' }}
          readOnly={readOnly}
          value={task.body ?? ''}
          error={errors.body}
          onChange={(event) => set({ body: event.currentTarget.value })}
        />
        {toggle('json', t.json)}
      </OptionGroup>
      <OptionGroup
        title={t.groups.response}
        summary={`${t.parser}: ${t.parsers[task.parser ?? '']}`}
        hasErrors={hasErrorIn(errors, ['parser', 'pattern', 'gzip', 'register_body'])}
      >
        <Select
          label={t.parser}
          allowDeselect={false}
          readOnly={readOnly}
          data={Object.entries(t.parsers).map(([value, label]) => ({
            value: value || 'none',
            label,
          }))}
          value={task.parser || 'none'}
          onChange={(next) => set({ parser: next === 'none' ? '' : next })}
        />
        {task.parser ? (
          <TextInput
            label={t.pattern}
            classNames={{ input: 'mono' }}
            readOnly={readOnly}
            value={task.pattern ?? ''}
            error={errors.pattern}
            onChange={(event) => set({ pattern: event.currentTarget.value })}
          />
        ) : null}
        {toggle('gzip', t.gzip)}
        {toggle('register_body', t.registerBody)}
      </OptionGroup>
    </Stack>
  )
}

const ANSWERS = [
  'success_enabled',
  'failure_enabled',
  'default_answer',
  'success_label',
  'failure_label',
]

function ApprovalFields({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const choose = (data: Record<string, string>) =>
    Object.entries(data).map(([value, label]) => ({ value, label }))
  return (
    <Stack gap={10}>
      <Textarea
        label={t.description}
        description={t.approvalIntro}
        autosize
        minRows={3}
        maxRows={12}
        readOnly={readOnly}
        value={task.description}
        error={errors.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <Select
        label={t.target}
        allowDeselect={false}
        readOnly={readOnly}
        data={choose(t.targets)}
        value={task.approvals_target ?? 'fixed'}
        error={errors.approvals_target}
        onChange={(approvals_target) => set({ approvals_target })}
      />
      {task.approvals_target === 'fixed' ? (
        <PeopleField
          label={t.approvers}
          description={t.approversHint}
          required
          value={task.approvers ?? []}
          error={errors.approvers ?? faultsBelow(errors, 'approvers')}
          readOnly={readOnly}
          onChange={(approvers) => set({ approvers })}
        />
      ) : null}
      {task.approvals_target === 'assignees' ? (
        <PeopleField
          label={t.assigned}
          value={task.assigned_users}
          error={errors.assigned_users}
          readOnly={readOnly}
          onChange={(assigned_users) => set({ assigned_users })}
        />
      ) : null}
      <Switch
        label={t.fourEyes}
        disabled={readOnly}
        checked={!!task.four_eyes}
        error={errors.four_eyes}
        onChange={(event) => set({ four_eyes: event.currentTarget.checked })}
      />
      <OptionGroup
        title={t.groups.answers}
        summary={`${t.defaultAnswer}: ${t.answers[task.default_answer ?? 'reject']}`}
        hasErrors={hasErrorIn(errors, ANSWERS)}
      >
        <Switch
          label={t.mayApprove}
          disabled={readOnly}
          checked={task.success_enabled ?? true}
          error={errors.success_enabled}
          onChange={(event) => set({ success_enabled: event.currentTarget.checked })}
        />
        <Switch
          label={t.mayReject}
          disabled={readOnly}
          checked={task.failure_enabled ?? true}
          error={errors.failure_enabled}
          onChange={(event) => set({ failure_enabled: event.currentTarget.checked })}
        />
        <Select
          label={t.defaultAnswer}
          allowDeselect={false}
          readOnly={readOnly}
          data={choose(t.answers)}
          value={task.default_answer ?? 'reject'}
          error={errors.default_answer}
          onChange={(default_answer) => set({ default_answer })}
        />
        <Group grow gap={8}>
          <TextInput
            label={t.yesLabel}
            readOnly={readOnly}
            value={task.success_label ?? ''}
            error={errors.success_label}
            onChange={(event) => set({ success_label: event.currentTarget.value })}
          />
          <TextInput
            label={t.noLabel}
            readOnly={readOnly}
            value={task.failure_label ?? ''}
            error={errors.failure_label}
            onChange={(event) => set({ failure_label: event.currentTarget.value })}
          />
        </Group>
      </OptionGroup>
    </Stack>
  )
}

function InputFields() {
  return (
    <Text size="sm" c="dimmed">
      {useText().inputIntro}
    </Text>
  )
}

function NotificationFields({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const types = task.notificationTypes ?? {}
  return (
    <Stack gap={10}>
      <TextInput
        label={t.subject}
        required
        readOnly={readOnly}
        value={task.subject ?? ''}
        error={errors.subject}
        onChange={(event) => set({ subject: event.currentTarget.value })}
      />
      <Textarea
        label={t.message}
        autosize
        minRows={5}
        maxRows={16}
        readOnly={readOnly}
        value={task.body ?? ''}
        error={errors.body}
        onChange={(event) => set({ body: event.currentTarget.value })}
      />
      <PeopleField
        label={t.recipients}
        description={t.recipientsHint}
        value={task.recipients ?? []}
        error={errors.recipients ?? faultsBelow(errors, 'recipients')}
        readOnly={readOnly}
        onChange={(recipients) => set({ recipients })}
      />
      <Switch
        label={t.byMail}
        disabled={readOnly}
        checked={!!types.email}
        onChange={(event) =>
          set({ notificationTypes: { ...types, email: event.currentTarget.checked } })
        }
      />
    </Stack>
  )
}

const KINDS: Partial<Record<FormProps['task']['type'], ComponentType<FormProps>>> = {
  scraper: ScraperFields,
  approval: ApprovalFields,
  dummy: InputFields,
  notification: NotificationFields,
}
