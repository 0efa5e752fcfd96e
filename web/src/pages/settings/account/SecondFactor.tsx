import { Badge, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { RecoveryCodes } from '../../../ui/account/RecoveryCodes'
import { TotpQrCode } from '../../../ui/account/TotpQrCode'
import { Form } from '../../../ui/form/Form'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'

const KEY = ['second-factor']

/** Set-up in three steps: password, picture and code, recovery codes. */
export function SecondFactor() {
  const t = useText()
  const client = useQueryClient()
  const factor = useQuery({ queryKey: KEY, queryFn: () => ok(api.GET('/api/auth/second-factor')) })
  const [begun, setBegun] = useState<Shape<'TotpSecretRecord'> | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const settle = () => client.invalidateQueries({ queryKey: KEY })
  const showCodes = (newCodes: string[]) => {
    setBegun(null)
    setCodes(newCodes)
    void settle()
  }
  return (
    <Section title={t.factor} aside={t.factorBody} padded>
      <QueryResult query={factor} lines={2}>
        {(factor) => (
          <Stack gap="sm">
            <Group gap={8}>
              <Badge className={factor.enabled ? 'badge-ok' : undefined}>
                {factor.enabled ? t.factorOn : t.factorIsOff}
              </Badge>
              {factor.enabled ? <Text size="sm">{t.codesLeft(factor.recovery_codes)}</Text> : null}
              {factor.required ? <Text size="sm">{t.required}</Text> : null}
            </Group>
            {!factor.available ? <Text size="sm">{t.factorNone}</Text> : null}
            {begun ? <Confirming begun={begun} onDone={showCodes} /> : null}
            {factor.available && !begun ? (
              factor.enabled ? (
                <Managing required={factor.required} onCodes={showCodes} onOff={settle} />
              ) : (
                <PasswordForm
                  action={t.setUp}
                  onPassword={(password) =>
                    ok(api.POST('/api/auth/second-factor', { body: { password } })).then(setBegun)
                  }
                />
              )
            ) : null}
          </Stack>
        )}
      </QueryResult>
      <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />
    </Section>
  )
}

function PasswordForm({
  action,
  onPassword,
  isDanger,
}: {
  action: string
  onPassword: (password: string) => Promise<unknown>
  isDanger?: boolean
}) {
  const t = useText()
  const [password, setPassword] = useState('')
  const run = useMutation({
    mutationFn: () => onPassword(password),
    onError: showError,
    onSettled: () => setPassword(''),
  })
  return (
    <Form onSubmit={() => run.mutate()}>
      <Group align="flex-end" gap={8}>
        <PasswordInput
          required
          w={240}
          size="xs"
          label={t.currentPassword}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant={isDanger ? 'default' : 'filled'}
          c={isDanger ? 'var(--mantine-color-error)' : undefined}
          loading={run.isPending}
        >
          {action}
        </Button>
      </Group>
    </Form>
  )
}

function Managing({
  required,
  onCodes,
  onOff,
}: {
  required: boolean
  onCodes: (codes: string[]) => void
  onOff: () => void
}) {
  const t = useText()
  const renew = (password: string) =>
    ok(api.POST('/api/auth/second-factor/recovery-codes', { body: { password } })).then((answer) =>
      onCodes(answer.recovery_codes),
    )
  const off = (password: string) =>
    ok(api.POST('/api/auth/second-factor/disable', { body: { password } })).then(() => {
      showSuccess(t.changed)
      onOff()
    })
  return (
    <>
      <PasswordForm action={t.renew} onPassword={renew} />
      {required ? null : <PasswordForm action={t.turnOff} isDanger onPassword={off} />}
    </>
  )
}

function Confirming({
  begun,
  onDone,
}: {
  begun: Shape<'TotpSecretRecord'>
  onDone: (codes: string[]) => void
}) {
  const t = useText()
  const [code, setCode] = useState('')
  const confirm = useMutation({
    mutationFn: () => ok(api.PUT('/api/auth/second-factor', { body: { code } })),
    onError: showError,
    onSuccess: (answer) => onDone(answer.recovery_codes),
  })
  return (
    <Form onSubmit={() => confirm.mutate()}>
      <Stack gap="sm">
        <Text size="sm">{t.scan}</Text>
        <TotpQrCode qr={begun.qr} secret={begun.secret} />
        <Group align="flex-end" gap={8}>
          <TextInput
            required
            size="xs"
            label={t.code}
            inputMode="numeric"
            autoComplete="one-time-code"
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          <Button type="submit" loading={confirm.isPending}>
            {t.confirm}
          </Button>
        </Group>
      </Stack>
    </Form>
  )
}
