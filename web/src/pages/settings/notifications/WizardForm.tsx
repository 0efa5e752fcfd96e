import {
  Alert,
  Anchor,
  Button,
  Group,
  PasswordInput,
  Radio,
  Select,
  Stack,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import { byField } from '../../../api/errors'
import { Form } from '../../../ui/form/Form'
import { addressOf, type Field, firstValues, isComplete, type Service } from './services'
import { TestResult } from './TestResult'
import { type Scope, useWizard } from './useWizard'
import { useWizardText } from './wizardText'

const SCOPES: Scope[] = ['all', 'monitors', 'jobs', 'none']

interface Props {
  service: Service
  /** Of the only field, where it is an address of any service. */
  label?: string | undefined
  help?: string | undefined
  onBack: () => void
  onClose: () => void
}

export function WizardForm({ service, label, help, onBack, onClose }: Props) {
  const t = useWizardText()
  const [name, setName] = useState(service.label)
  const [values, setValues] = useState(() => firstValues(service))
  const [scope, setScope] = useState<Scope>('all')
  const wizard = useWizard()
  const faults = byField(wizard.error)
  const isSent = wizard.data?.state === 'sent'
  const submit = () =>
    isSent
      ? onClose()
      : wizard.mutate({ name, url: addressOf(service, values), scope, ruleName: t.ruleName(name) })
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
            onChange={(value) => setValues({ ...values, [field.name]: value })}
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
        {wizard.error ? (
          <Alert color="red" role="alert">
            {faults.url ?? wizard.error.message}
          </Alert>
        ) : null}
        {wizard.data && !wizard.isPending ? <TestResult name={name} message={wizard.data} /> : null}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={onBack} disabled={wizard.isPending || isSent}>
            {t.back}
          </Button>
          <Button
            type="submit"
            loading={wizard.isPending}
            disabled={!name.trim() || !isComplete(service, values)}
          >
            {isSent ? t.done : wizard.data ? t.again : t.create}
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
  value: string
  onChange: (value: string) => void
}

function FieldInput({ field, label, help, value, onChange }: FieldProps) {
  if (field.choices)
    return (
      <Select
        label={label}
        allowDeselect={false}
        data={field.choices}
        value={value}
        onChange={(choice) => onChange(choice ?? '')}
      />
    )
  const Input = field.isSecret ? PasswordInput : TextInput
  return (
    <Input
      label={label}
      description={help}
      required={!field.isOptional}
      placeholder={field.placeholder}
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
