import {
  Alert,
  Anchor,
  Button,
  Group,
  PasswordInput,
  Radio,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import { byField } from '../../../api/errors'
import { Form } from '../../../ui/form/Form'
import {
  addressOf,
  type Field,
  firstValues,
  hasRefusedPath,
  isComplete,
  type Service,
  withValue,
} from './services'
import { TestResult } from './TestResult'
import type { Scope, useWizard } from './useWizard'
import { useWizardText } from './wizardText'

const SCOPES: Scope[] = ['all', 'monitors', 'jobs', 'none']

interface Props {
  service: Service
  /** The label of the only field, if it is an address of any service. */
  label?: string | undefined
  help?: string | undefined
  wizard: ReturnType<typeof useWizard>
  onBack: () => void
  onClose: () => void
}

export function WizardForm({ service, label, help, wizard, onBack, onClose }: Props) {
  const t = useWizardText()
  const [name, setName] = useState(service.label)
  const [values, setValues] = useState(() => firstValues(service))
  const [scope, setScope] = useState<Scope>('all')
  const { test, choose } = wizard
  const error = test.error ?? choose.error
  const faults = byField(error)
  const isBusy = test.isPending || choose.isPending
  const setup = { name, url: addressOf(service, values), scope, ruleName: t.ruleName(name) }
  const tested = test.variables
  // Another name or address is tested again; another choice of events is only saved.
  const isSent = test.data?.state === 'sent' && tested?.name === name && tested.url === setup.url
  const isChosen = (choose.variables ?? tested)?.scope === scope
  const submit = () => {
    if (!isSent) {
      choose.reset()
      test.mutate(setup)
    } else if (isChosen) onClose()
    else choose.mutate(setup, { onSuccess: onClose })
  }
  return (
    <Form onSubmit={submit}>
      <Stack gap="sm">
        {service.fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            label={label ?? t.fields[field.label] ?? field.label}
            help={help ?? (field.isOptional ? t.optional : undefined)}
            value={values[field.name] ?? ''}
            error={field.name === 'host' && hasRefusedPath(service, values) ? t.noPath : undefined}
            onChange={(value) => setValues(withValue(values, field.name, value))}
          />
        ))}
        {service.help ? (
          <Anchor href={service.help} target="_blank" rel="noreferrer" size="sm">
            {t.help(service.label)}
          </Anchor>
        ) : null}
        <TextInput
          required
          label={t.name}
          value={name}
          error={faults.name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Radio.Group label={t.scope} value={scope} onChange={(value) => setScope(value as Scope)}>
          <Stack gap={6} mt={4}>
            {SCOPES.map((choice) => (
              <Radio key={choice} value={choice} label={t[choice]} />
            ))}
          </Stack>
        </Radio.Group>
        {error ? (
          <Alert color="red" role="alert">
            {faults.url ?? error.message}
          </Alert>
        ) : null}
        {test.data && !test.isPending ? <TestResult name={name} message={test.data} /> : null}
        {test.data && !isSent ? (
          <Text size="sm" c="dimmed">
            {t.notSaved}
          </Text>
        ) : null}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={onBack} disabled={isBusy || isSent}>
            {t.back}
          </Button>
          <Button
            type="submit"
            loading={isBusy}
            disabled={!name.trim() || !isComplete(service, values)}
          >
            {!isSent ? (test.data ? t.again : t.create) : isChosen ? t.done : t.save}
          </Button>
        </Group>
      </Stack>
    </Form>
  )
}

interface FieldProps {
  field: Field
  label: string
  help?: string | undefined
  error?: string | undefined
  value: string
  onChange: (value: string) => void
}

function FieldInput({ field, label, help, error, value, onChange }: FieldProps) {
  const t = useWizardText()
  if (field.choices)
    return (
      <Select
        label={label}
        allowDeselect={false}
        data={field.choices.map((choice) => ({
          value: choice,
          label: t.choices[choice] ?? choice,
        }))}
        value={value}
        onChange={(choice) => onChange(choice ?? '')}
      />
    )
  const Input = field.isSecret ? PasswordInput : TextInput
  return (
    <Input
      label={label}
      description={help}
      error={error}
      required={!field.isOptional}
      placeholder={field.placeholder}
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
