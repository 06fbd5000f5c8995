module github.com/rlock-go/redisson/integration/bench

go 1.26.0

require (
	github.com/gomodule/redigo v1.9.3
	github.com/google/uuid v1.6.0
	github.com/prometheus/client_golang v1.23.2
	github.com/rlock-go/redisson v0.1.0
	github.com/rlock-go/redisson/integration v0.1.0
	github.com/rlock-go/redisson/rlockotel v0.1.0
	github.com/rlock-go/redisson/rlockprom v0.1.0
	go.opentelemetry.io/otel/sdk/metric v1.47.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.2 // indirect
	github.com/prometheus/common v0.66.1 // indirect
	github.com/prometheus/procfs v0.16.1 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.opentelemetry.io/otel/metric v1.47.0 // indirect
	go.opentelemetry.io/otel/sdk v1.47.0 // indirect
	go.opentelemetry.io/otel/trace v1.47.0 // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	google.golang.org/protobuf v1.36.8 // indirect
)

replace (
	github.com/rlock-go/redisson => ../..
	github.com/rlock-go/redisson/integration => ../
	github.com/rlock-go/redisson/rlockotel => ../../rlockotel
	github.com/rlock-go/redisson/rlockprom => ../../rlockprom
	github.com/rlock-go/redisson/rlocktest => ../../rlocktest
)
