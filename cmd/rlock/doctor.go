package main

import "github.com/spf13/cobra"

func doctorCommand(s *server) *cobra.Command { return &cobra.Command{Use: "doctor"} }
